import { pipeline } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { WholeAnswer } from '../contract.js'
import { Problem } from '../errors.js'
import { addressKey } from '../limits/address.js'
import { Semaphore } from '../semaphore.js'
import { StoreError } from '../store/store.js'
import { addressOf } from './origin.js'

export const WHOLE_LIMITS = {
  /** A client that reads nothing for this long is disconnected. */
  stallMilliseconds: 30_000,
  /** The longest time that a response may take. Its snapshot keeps old rows in the store meanwhile. */
  maxMilliseconds: 600_000,
}

export type WholeLimits = typeof WHOLE_LIMITS

/** Retry-After while an endpoint already sends its maximum of concurrent responses. */
const RETRY_SECONDS = 10

/** One whole answer to one client. */
export interface Asked {
  request: FastifyRequest
  reply: FastifyReply
  whole: WholeAnswer
  isGzip: boolean
}

/** Answers a request whose answer goes out as it is read; `sent` has sent its body, or was refused before the first byte. */
export async function sendLarge(asked: Asked, sent: Promise<unknown>): Promise<FastifyReply> {
  const { request, reply } = asked
  try {
    await sent
  } catch (cause) {
    if (!reply.sent) throw cause
    logCut(asked, cause)
  }
  if (request.method === 'HEAD') return reply.headers(streamHeadOf(asked)).send()
  return reply.hijack()
}

/** The pieces that were read, then the remaining ones, as bytes. Yields to the event loop after each of the latter. */
export async function* bytesOf(texts: string[], rest: AsyncIterator<string>): AsyncGenerator<Buffer> {
  try {
    for (let text = texts.shift(); text !== undefined; text = texts.shift()) yield Buffer.from(text)
    for (let next = await rest.next(); !next.done; next = await rest.next()) {
      yield Buffer.from(next.value)
      await nextTurn()
    }
  } finally {
    await rest.return?.()
  }
}

/** Sends at the client's pace. Any failure closes the connection, so that no client takes a part for the whole. */
export async function streamTo(asked: Asked, limits: WholeLimits, bytes: AsyncGenerator<Buffer>): Promise<void> {
  const { request, reply, isGzip } = asked
  if (request.raw.socket.destroyed) return
  reply.hijack()
  reply.raw.writeHead(200, { ...(reply.getHeaders() as object), ...streamHeadOf(asked) })
  cutStalled(asked, limits)
  const signal = AbortSignal.timeout(limits.maxMilliseconds)
  if (isGzip) await pipeline(bytes, createGzip(), reply.raw, { signal })
  else await pipeline(bytes, reply.raw, { signal })
}

/** Disconnects a client that reads nothing for too long, whether its response is cached or streamed. */
export function cutStalled({ request, reply }: Asked, { stallMilliseconds }: WholeLimits): void {
  reply.raw.setTimeout(stallMilliseconds, () => {
    request.log.warn({ request_id: request.id }, 'the client stopped reading; connection closed')
    request.raw.socket.destroy()
  })
}

/** A client that left is not an error. */
function logCut({ request }: Asked, cause: unknown): void {
  if ((cause as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return
  const err = cause instanceof StoreError ? cause.message : cause
  request.log.error({ request_id: request.id, err }, 'a response failed midway; connection closed')
}

export function headOf({ reply, whole: { fileName }, isGzip }: Asked): { [name: string]: string } {
  const vary = reply.getHeader('vary')
  return {
    vary: vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`,
    ...(isGzip ? { 'content-encoding': 'gzip' } : {}),
    ...(fileName === undefined ? {} : { 'content-disposition': `attachment; filename="${fileName}"` }),
  }
}

/** The head of a streamed response. */
function streamHeadOf(asked: Asked): { [name: string]: string } {
  return { ...headOf(asked), 'content-type': asked.whole.contentType, 'cache-control': 'private, no-cache' }
}

/**
 * Limits how many large responses are sent at once; the next is refused. An address without a valid credential may have one.
 */
export class LargeAnswers {
  private readonly all: Semaphore
  private readonly addresses = new Set<string>()

  constructor(permits: number) {
    this.all = new Semaphore({ permits, full: overloaded })
  }

  /** Sends an answer, without its body for HEAD. Throws `http_1_1_required` and `overloaded`, for this caller alone. */
  async send({ request }: Asked, send: () => Promise<void>): Promise<void> {
    if (request.raw.socket.destroyed) return
    // HTTP/1.0 ends a response by closing the connection, so a truncated response would look complete.
    if (request.raw.httpVersion === '1.0') throw new Problem('http_1_1_required')
    const address = request.principal ? undefined : addressKey(addressOf(request))
    if (address && this.addresses.has(address)) throw overloaded()
    const release = this.all.take()
    if (address) this.addresses.add(address)
    try {
      if (request.method !== 'HEAD') await send()
    } finally {
      release()
      if (address) this.addresses.delete(address)
    }
  }
}

function overloaded(): Problem {
  return new Problem('overloaded', { retryAfterSeconds: RETRY_SECONDS })
}
