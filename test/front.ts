import { createServer, type IncomingHttpHeaders, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Reply {
  status: number
  headers: Record<string, string>
  body: Buffer | string
}

/** One request as it was received. */
export interface Asked {
  path: string
  headers: IncomingHttpHeaders
}

/** What the server does in place of its usual response. It may also write to `response` itself. */
export type Fault = (
  asked: Asked,
  usual: () => Promise<Reply>,
  response: ServerResponse,
) => Promise<Reply | undefined> | Reply | undefined

/** A server that a test can make fail. */
export interface Front {
  url: string
  asked: Asked[]
  /** The maximum number of concurrent requests. */
  mostAtOnce: number
  /** Undefined for normal service. */
  fault: Fault | undefined
  close(): Promise<void>
}

export async function startFront(answer: (asked: Asked) => Promise<Reply> | Reply): Promise<Front> {
  const front: Front = { url: '', asked: [], mostAtOnce: 0, fault: undefined, close: async () => undefined }
  let underWay = 0
  const server = createServer(async (incoming, response) => {
    const asked = { path: incoming.url as string, headers: incoming.headers }
    front.asked.push(asked)
    front.mostAtOnce = Math.max(front.mostAtOnce, ++underWay)
    response.on('close', () => underWay--)
    const usual = async () => answer(asked)
    const reply = await (front.fault ? front.fault(asked, usual, response) : usual())
    if (reply) response.writeHead(reply.status, reply.headers).end(reply.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  front.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  front.close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return front
}

/** Forwards requests to a server with the same Host, so that links lead here. */
export function passOn(target: string): (asked: Asked) => Promise<Reply> {
  return ({ path, headers }) =>
    new Promise((resolve, reject) => {
      const sent = request(target + path, { headers: { ...headers, connection: 'close' } }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const { connection, 'keep-alive': keepAlive, 'transfer-encoding': encoding, ...kept } = response.headers
          resolve({
            status: response.statusCode as number,
            headers: kept as Record<string, string>,
            body: Buffer.concat(chunks),
          })
        })
      })
      sent.on('error', reject).end()
    })
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(body),
  }
}

/** Changes the body of the usual response, if it is a 200. */
export async function altered(usual: () => Promise<Reply>, change: (body: never) => unknown): Promise<Reply> {
  const { status, headers, body } = await usual()
  if (status !== 200) return { status, headers, body }
  const { etag, 'content-length': length, ...kept } = headers
  return { status, headers: kept, body: JSON.stringify(change(JSON.parse(String(body)) as never)) }
}
