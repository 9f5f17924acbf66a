import { existsSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { freePort, ServerProcess } from './child.js'
import { ordinaryUser, runSql } from './postgres.js'

export interface Pooler {
  /** The address of a database through the pooler. */
  through(url: string): string
  close(): Promise<void>
}

const HOST = '127.0.0.1'

/** The program, where Debian installs it or in PATH. */
export function findPgBouncer(): string | undefined {
  const folders = ['/usr/sbin', ...(process.env.PATH ?? '').split(delimiter).filter(Boolean)]
  return folders.map((folder) => join(folder, 'pgbouncer')).find(existsSync)
}

/** PgBouncer before the server of an address. All clients use that address's user and password. */
export async function startPgBouncer(
  url: string,
  mode: 'session' | 'transaction' | 'statement',
  settings: Record<string, string> = {},
): Promise<Pooler> {
  const { hostname, port: serverPort, username, password } = new URL(url)
  const port = await freePort()
  const server = new ServerProcess('pgbouncer', 'SIGKILL', ordinaryUser())
  const login = `user=${decodeURIComponent(username)} password=${decodeURIComponent(password)}`
  const lines = Object.entries({
    listen_addr: HOST,
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: mode,
    ignore_startup_parameters: 'statement_timeout,idle_in_transaction_session_timeout',
    ...settings,
  }).map(([name, value]) => `${name} = ${value}`)
  const file = join(server.folder, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]\n* = host=${hostname} port=${serverPort || 5432} ${login}\n[pgbouncer]\n${lines.join('\n')}\n`,
  )
  const through = (to: string) => {
    const changed = new URL(to)
    changed.host = `${HOST}:${port}`
    return changed.href
  }
  try {
    await server.start(findPgBouncer() as string, ['-q', file], () => runSql(through(url), 'select 1'))
  } catch (error) {
    await server.destroy()
    throw error
  }
  return { through, close: () => server.destroy() }
}
