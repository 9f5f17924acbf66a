import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import { freePort, ServerProcess } from './child.js'

export interface RedisServer {
  readonly host: string
  readonly port: number
  readonly url: string
  stop(): Promise<void>
  /** Starts it again, empty, on the same port. */
  start(): Promise<void>
  /** Freezes it: connections are accepted, and no request is answered. */
  pause(): void
  resume(): void
  /** Ends it at once. */
  destroy(): Promise<void>
}

const HOST = '127.0.0.1'

/** An empty Redis or Valkey, if the machine has one. */
export async function startRedis(): Promise<RedisServer | undefined> {
  const program = findRedis()
  if (!program) return undefined
  const port = await freePort()
  const server = new ServerProcess('redis', 'SIGKILL')
  const args = ['--bind', HOST, '--port', String(port), '--dir', server.folder, '--save', '', '--appendonly', 'no']
  const start = () => server.start(program, args, () => ping(port))
  try {
    await start()
  } catch (error) {
    await server.destroy()
    throw error
  }
  return {
    ...{ host: HOST, port, url: `redis://${HOST}:${port}`, start },
    stop: () => server.stop('SIGTERM'),
    pause: () => server.pause(),
    resume: () => server.resume(),
    destroy: () => server.destroy(),
  }
}

/** The server's program, from PATH. */
export function findRedis(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  return ['redis-server', 'valkey-server']
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find(existsSync)
}

function ping(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, HOST, () => socket.write('PING\r\n'))
    socket.setTimeout(1000, () => socket.destroy())
    socket.once('data', (answer) => {
      if (answer.toString().startsWith('+PONG')) resolve()
      socket.destroy()
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('no answer')))
  })
}
