import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  Agent as PlainAgent,
  request as plainRequest,
} from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { BadAnswer, MirrorError, NoAnswer } from './errors.js'

/** What one exchange may take. */
export const DEFAULT_EXCHANGE_LIMITS = {
  connectMilliseconds: 10_000,
  /** Between two signs of life. */
  silenceMilliseconds: 30_000,
  /** From the first byte sent to the last one received. */
  wholeMilliseconds: 300_000,
  bodyBytes: 64 * 1024 * 1024,
}

export type ExchangeLimits = typeof DEFAULT_EXCHANGE_LIMITS

/** A complete answer. */
export interface Raw {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

/** Keeps connections open for reuse, up to a number at once. */
export function makeAgent(base: URL, connections: number): PlainAgent {
  const Agent = base.protocol === 'https:' ? TlsAgent : PlainAgent
  return new Agent({ keepAlive: true, maxSockets: connections })
}

/** Sends one GET and reads the whole answer. Throws `NoAnswer`, or `BadAnswer` for a body past its bound. */
export function exchange(
  url: URL,
  options: { agent: PlainAgent; headers: Record<string, string>; limits: ExchangeLimits; signal: AbortSignal },
): Promise<Raw> {
  const { agent, headers, limits, signal } = options
  const send = url.protocol === 'https:' ? tlsRequest : plainRequest
  const request = send(url, { agent, headers, signal })
  const watch = watchTime(request, limits)
  const whole = new Promise<Raw>((resolve, reject) => {
    let isAnswered = false
    request.on('error', reject)
    // For example, a 101 ends the request without an error. Errors after the head are those of the body.
    request.on('close', () => isAnswered || reject(new NoAnswer('the connection ended without an answer')))
    request.on('response', (response) => {
      isAnswered = true
      watch.alive()
      response.on('data', watch.alive)
      readBody(response, limits.bodyBytes).then(
        (body) => resolve({ status: response.statusCode as number, headers: response.headers, body }),
        (error) => {
          request.destroy()
          reject(error)
        },
      )
    })
  })
  request.end()
  return whole.catch((error) => Promise.reject(toFault(error, signal))).finally(watch.end)
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new BadAnswer(`a body of more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function watchTime(
  request: ClientRequest,
  { connectMilliseconds, silenceMilliseconds, wholeMilliseconds }: ExchangeLimits,
): { alive(): void; end(): void } {
  const after = (milliseconds: number, what: string) =>
    setTimeout(() => request.destroy(new NoAnswer(`${what} in ${milliseconds} ms`)), milliseconds)
  const whole = after(wholeMilliseconds, 'no whole answer')
  let silence = after(connectMilliseconds, 'no connection')
  const alive = () => {
    clearTimeout(silence)
    silence = after(silenceMilliseconds, 'no sign of life')
  }
  request.on('socket', (socket) => {
    if (socket.connecting) socket.once('connect', alive)
    else alive()
  })
  return {
    alive,
    end() {
      clearTimeout(whole)
      clearTimeout(silence)
    },
  }
}

/** Node's messages may contain addresses; its codes do not. */
function toFault(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason
  if (error instanceof NoAnswer || error instanceof MirrorError) return error
  const { code } = error as NodeJS.ErrnoException
  return new NoAnswer(`the connection failed (${code ?? 'for a reason unknown'})`)
}
