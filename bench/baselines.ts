import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { KEEP_ALIVE_MILLISECONDS } from './handwritten.js'
import { handWrittenOnPostgres } from './handwritten-postgres.js'
import { handWrittenOnSqlite } from './handwritten-sqlite.js'

/** An answer as a server wrote it, without what node adds by itself. */
export interface CapturedAnswer {
  status: number
  /** Names and values in turn, in their order. */
  headers: string[]
  body: Buffer
}

/** The least that node:http can do: it looks at nothing and writes the same bytes and headers every time. */
export function bareServer(answer: () => CapturedAnswer): Server {
  return createServer({ keepAliveTimeout: KEEP_ALIVE_MILLISECONDS }, (_request, response) => {
    const { status, headers, body } = answer()
    response.writeHead(status, headers).end(status === 304 ? undefined : body)
  })
}

/** The least that node can do without HTTP: the ceiling of the load generator is measured with it. */
function rawServer(): TcpServer {
  const bytes = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
  return createTcpServer({ noDelay: true }, (socket) => {
    socket.on('data', () => socket.write(bytes))
    socket.on('error', () => socket.destroy())
  })
}

/** The servers of this file, and those written by hand, one for each engine. */
export type Baseline = 'bare' | 'raw' | 'sqlite' | 'postgres'

/** Run as a process of its own: the argument says which server, a message with its port says that it listens. */
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
