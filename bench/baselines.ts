import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { KEEP_ALIVE_MILLISECONDS } from './handwritten.js'
import { handWrittenOnPostgres } from './handwritten-postgres.js'
import { handWrittenOnSqlite } from './handwritten-sqlite.js'

/** A response without the headers that node:http adds. */
export interface CapturedAnswer {
  status: number
  /** Alternating names and values, in order. */
  headers: string[]
  body: Buffer
}

/** The minimal node:http server: ignores the request and always writes the same bytes and headers. */
export function bareServer(answer: () => CapturedAnswer): Server {
  return createServer({ keepAliveTimeout: KEEP_ALIVE_MILLISECONDS }, (_request, response) => {
    const { status, headers, body } = answer()
    response.writeHead(status, headers).end(status === 304 ? undefined : body)
  })
}

/** A server without HTTP, to measure the maximum rate of the load generator. */
function rawServer(): TcpServer {
  const bytes = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
  return createTcpServer({ noDelay: true }, (socket) => {
    socket.on('data', () => socket.write(bytes))
    socket.on('error', () => socket.destroy())
  })
}

/** The servers of this file, and the hand-written ones, one per engine. */
export type Baseline = 'bare' | 'raw' | 'sqlite' | 'postgres'

/** Runs as a separate process. The argument names the server; a message with the port means that it listens. */
function main(kind: Baseline, database = ''): void {
  let answer: CapturedAnswer = { status: 503, headers: [], body: Buffer.alloc(0) }
  process.on('disconnect', () => process.exit())
  process.on('message', ({ status, headers, body }: Omit<CapturedAnswer, 'body'> & { body: string }) => {
    answer = { status, headers, body: Buffer.from(body, 'base64') }
    process.send?.({ ready: true })
  })
  const servers: Record<Baseline, () => Server | TcpServer> = {
    bare: () => bareServer(() => answer),
    raw: rawServer,
    sqlite: () => handWrittenOnSqlite(database),
    postgres: () => handWrittenOnPostgres(database),
  }
  const server = servers[kind]()
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
}

if (process.send && process.argv[1] === import.meta.filename) {
  main(process.argv[2] as Baseline, process.env.BASELINE_DATABASE)
}
