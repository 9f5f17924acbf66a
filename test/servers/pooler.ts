import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import pg from 'pg'
import type { Pooler } from './pgbouncer.js'

/** Which free connection of the server the next transaction gets: the most recently used one, or each in turn. */
type Order = 'last' | 'turns'

const SSL_REQUEST = 80_877_103

/** A minimal pooler in transaction mode, for clients that send one query at a time. */
export async function startPooler(url: string, connections: number, order: Order): Promise<Pooler> {
  const servers = await Promise.all(Array.from({ length: connections }, () => connectRaw(url)))
  const free = [...servers]
  const clients = new Set<Socket>()
  const pooler = createServer((client) => {
    clients.add(client)
    client.on('close', () => clients.delete(client)).on('error', () => undefined)
    let server: Socket | undefined
    let isStarted = false
    client.on('data', (chunk: Buffer) => {
      if (!isStarted) {
        isStarted = chunk.readInt32BE(4) !== SSL_REQUEST
        client.write(isStarted ? WELCOME : 'N')
        return
      }
      if (chunk[0] === 'X'.charCodeAt(0)) return
      server ??= order === 'last' ? free.pop() : free.shift()
      const used = server as Socket
      used.removeAllListeners('data')
      used.on('data', (answer: Buffer) => {
        client.write(answer)
        if (!isIdle(answer)) return
        server = undefined
        if (!free.includes(used)) free.push(used)
      })
      used.write(chunk)
    })
  })
  pooler.listen(0, '127.0.0.1')
  await once(pooler, 'listening')
  const { port } = pooler.address() as { port: number }
  return {
    through(to) {
      const changed = new URL(to)
      changed.host = `127.0.0.1:${port}`
      return changed.href
    },
    async close() {
      for (const socket of [...clients, ...servers]) socket.destroy()
      pooler.close()
    },
  }
}

/** An authenticated connection for raw bytes of the protocol. */
async function connectRaw(url: string): Promise<Socket> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  stream.removeAllListeners('data')
  return stream
}

/** Whether a response ends with "ready, outside of a transaction". */
function isIdle(answer: Buffer): boolean {
  return answer.subarray(-6).equals(READY)
}

const READY = message('Z', Buffer.from('I'))
/** Authenticated; a process and a key for cancellation that belong to no server; ready. */
const WELCOME = Buffer.concat([message('R', Buffer.alloc(4)), message('K', Buffer.from('palmares')), READY])

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
