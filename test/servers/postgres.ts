import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import pg from 'pg'
import { freePort, ServerProcess, type User } from './child.js'

export interface PostgresServer {
  readonly host: string
  readonly port: number
  /** The superuser's, `palmares_test`. */
  readonly password: string
  /** The address of one of its databases; by default `postgres`, as the superuser. */
  url(database?: string, user?: string, password?: string): string
  /** Runs statements as the superuser, and returns the rows of the last one. */
  sql<Row = Record<string, unknown>>(text: string, database?: string): Promise<Row[]>
  /** `fast` ends sessions in order, `immediate` is a crash. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
  /** Starts it again, on the same port and data. */
  start(): Promise<void>
  /** Freezes all its processes: connections are accepted, and no query is answered. */
  pause(): void
  resume(): void
  /** Ends it at once, and removes its data. */
  destroy(): Promise<void>
}

export interface PrimaryOptions {
  /** A locale of the operating system. */
  locale?: string
  /** A locale of ICU, such as `fr`, for sorting instead of the operating system's. Needs PostgreSQL 15. */
  icuLocale?: string
  /** Settings in place of SETTINGS, such as `synchronous_commit=on`, without which a crash loses the last writes. */
  settings?: Record<string, string>
}

const HOST = '127.0.0.1'
const USER = 'palmares_test'

/** Settings for a server whose data may be lost. */
const SETTINGS = {
  listen_addresses: HOST,
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
  shared_buffers: '64MB',
  wal_level: 'replica',
  max_wal_senders: '8',
  // A replica that was down can still read what it missed.
  wal_keep_size: '256MB',
  max_wal_size: '256MB',
  hot_standby: 'on',
}

/** The folder of PostgreSQL's programs on this machine, if it has them. */
export function findBinaries(): string | undefined {
  const path = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  const links = path.map((folder) => join(folder, 'initdb')).filter(existsSync)
  // Debian has a folder for the programs of each version, outside of PATH.
  const folders = [...debianFolders(), ...path, ...links.map((link) => dirname(realpathSync(link)))]
  return folders.find((folder) =>
    ['initdb', 'postgres', 'pg_basebackup'].every((program) => existsSync(join(folder, program))),
  )
}

/** An empty server of the latest PostgreSQL that the machine has. */
export async function startPrimary(options: PrimaryOptions = {}): Promise<PostgresServer> {
  const password = randomBytes(15).toString('base64url')
  return start(password, options.settings ?? {}, async (server, program, data) => {
    const passwordFile = join(server.folder, 'password')
    writeFileSync(passwordFile, password, { mode: 0o644 })
    await server.run(program('initdb'), [
      ...[`--pgdata=${data}`, '--no-sync', '--encoding=UTF8', `--locale=${options.locale ?? 'C.UTF-8'}`],
      ...(options.icuLocale ? ['--locale-provider=icu', `--icu-locale=${options.icuLocale}`] : []),
      ...['--auth=scram-sha-256', `--username=${USER}`, `--pwfile=${passwordFile}`],
    ])
  })
}

/** A replica of another server, which answers read-only queries. */
export async function startReplica(
  primary: PostgresServer,
  options: Pick<PrimaryOptions, 'settings'> = {},
): Promise<PostgresServer> {
  return start(primary.password, options.settings ?? {}, (server, program, data) =>
    server.run(program('pg_basebackup'), [
      ...[`--pgdata=${data}`, `--dbname=${primary.url()}`, '--write-recovery-conf'],
      ...['--wal-method=stream', '--checkpoint=fast', '--no-sync'],
    ]),
  )
}

/**
 * Creates a database with a unique name, empty or a copy of `template`, and returns its address. Copying files is several
 * times as fast as logging them, since nothing is synced.
 */
export async function createDatabase(server: PostgresServer | string, template?: string): Promise<string> {
  const admin = typeof server === 'string' ? server : server.url()
  const name = `palmares_${randomBytes(8).toString('hex')}`
  const from = template ? ` template ${pg.escapeIdentifier(template)}` : ''
  await runSql(admin, `create database ${name} strategy file_copy${from}`)
  return inDatabase(admin, name)
}

/** Drops a database and ends its sessions. */
export async function dropDatabase(url: string): Promise<void> {
  const name = decodeURIComponent(new URL(url).pathname.slice(1))
  await runSql(inDatabase(url, 'postgres'), `drop database if exists ${pg.escapeIdentifier(name)} with (force)`)
}

/** Runs statements on their own connection, and returns the rows of the last one. */
export async function runSql<Row = Record<string, unknown>>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 60_000 })
  // When the server ends the session, the pending query fails too.
  client.on('error', () => undefined)
  try {
    await client.connect()
    const results = [await client.query(text)].flat()
    return (results.at(-1)?.rows ?? []) as Row[]
  } finally {
    await client.end().catch(() => undefined)
  }
}

type Program = (name: string) => string

async function start(
  password: string,
  settings: Record<string, string>,
  makeData: (server: ServerProcess, program: Program, data: string) => Promise<void>,
): Promise<PostgresServer> {
  const binaries = findBinaries()
  if (!binaries) throw new Error('this machine has no PostgreSQL server')
  const program: Program = (name) => join(binaries, name)
  const port = await freePort()
  const server = new ServerProcess('postgres', 'SIGQUIT', ordinaryUser())
  const data = join(server.folder, 'data')
  const url = (database = 'postgres', user = USER, ofUser = password) =>
    `postgres://${[user, ofUser].map(encodeURIComponent).join(':')}@${HOST}:${port}/${encodeURIComponent(database)}`
  const all = { ...SETTINGS, port: String(port), unix_socket_directories: server.folder, ...settings }
  const args = ['-D', data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const startAgain = () => server.start(program('postgres'), args, () => runSql(url(), 'select 1'))
  try {
    await makeData(server, program, data)
    await startAgain()
  } catch (error) {
    await server.destroy()
    throw error
  }
  return {
    ...{ host: HOST, port, password, url, start: startAgain },
    sql: (text, database) => runSql(url(database), text),
    stop: (mode) => server.stop(mode === 'fast' ? 'SIGINT' : 'SIGQUIT'),
    pause: () => server.pause(),
    resume: () => server.resume(),
    destroy: () => server.destroy(),
  }
}

/** PostgreSQL refuses to run as root. */
export function ordinaryUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  const line = ['postgres:', 'nobody:'].map((name) => users.find((user) => user.startsWith(name))).find(Boolean)
  if (!line) throw new Error('PostgreSQL does not run as root, and there is neither a user postgres nor nobody')
  const [, , uid, gid] = line.split(':').map(Number)
  return { uid: uid!, gid: gid! }
}

/** Newest first. */
function debianFolders(): string[] {
  const root = '/usr/lib/postgresql'
  if (!existsSync(root)) return []
  const versions = readdirSync(root).sort((a, b) => Number(b) - Number(a))
  return versions.map((version) => join(root, version, 'bin'))
}

function inDatabase(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${encodeURIComponent(database)}`
  return changed.href
}
