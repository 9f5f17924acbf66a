import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PATIENCE } from '../../test/patience.js'
import { Palmares, type PalmaresOptions } from '../src/index.js'

/** A recognisable key, so that a test can search for it where it must not be. */
export const KEY = 'palm_0123456789abcdefghijABCDEFGHIJ0123456789abcdefghijABCDEF01'

export interface LocalServer {
  url: string
  /** The received requests, in order. */
  requests: IncomingMessage[]
  /** A client of this server with a long timeout. */
  client(options?: PalmaresOptions): Palmares
  close(): Promise<void>
}

export type Handler = (request: IncomingMessage, response: ServerResponse, count: number) => unknown

/** A server with arbitrary responses. `count` is the number of the request, from 1. */
export async function startLocal(handler: Handler): Promise<LocalServer> {
  const requests: IncomingMessage[] = []
  const listener: RequestListener = (request, response) => handler(request, response, requests.push(request))
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    requests,
    client: (options) => new Palmares({ baseUrl: url, apiKey: KEY, timeoutMilliseconds: PATIENCE.timeout, ...options }),
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

export function json(response: ServerResponse, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(JSON.stringify(body))
}

export function problem(response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}) {
  const body = { type: `urn:palmares:problem:${code}`, title: code, status, detail: 'No.', code, request_id: 'r-1' }
  response.writeHead(status, { 'content-type': 'application/problem+json', ...headers }).end(JSON.stringify(body))
}
