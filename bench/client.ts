import { type Agent, request } from 'node:http'
import type { CapturedAnswer } from './baselines.js'

/** The Host of every request, so that responses that contain it are equal. */
export const HOST = 'palmares.bench'

const ANSWER_MILLISECONDS = 60_000

export function headersWith(key: string): Record<string, string> {
  return { host: HOST, cookie: `api_key=${key}` }
}

/** Options of a request. A body makes it a POST; an agent allows keep-alive. */
export interface Sent {
  headers: Record<string, string>
  body?: string
  agent?: Agent
}

/** Sends a single request. */
export function ask(port: number, path: string, { headers, body, agent }: Sent): Promise<CapturedAnswer> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: agent ?? false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const status = response.statusCode as number
        resolve({ status, headers: withoutNodes(response.rawHeaders), body: Buffer.concat(chunks) })
      })
    })
    sent.setTimeout(ANSWER_MILLISECONDS, () => sent.destroy(new Error(`no response to ${path}`)))
    sent.on('error', reject).end(body)
  })
}

/** The headers without those that node:http adds. */
function withoutNodes(rawHeaders: string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (!['Date', 'Connection', 'Keep-Alive'].includes(rawHeaders[i] as string))
      kept.push(rawHeaders[i] as string, rawHeaders[i + 1] as string)
  }
  return kept
}
