import { pipeline } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createGzip, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Endpoint, ServeWhole, WholeAnswer } from '../contract.js'
import { Problem } from '../errors.js'
import { addressKey } from '../limits/address.js'
import { Pool } from '../store/pool.js'
import { StoreError } from '../store/store.js'
import type { Made, Ready } from './cache.js'
import { addressOf } from './origin.js'
import { etagOf, heldFor, type Record, readQuery, requireScope, type ServeDeps, sendReady, toRoute } from './serve.js'

export interface WholeLimits {
  /** A client that takes nothing for so long is cut. */
  stallMilliseconds: number
  /** A client that takes too little is cut then, as the store keeps what the answer shows. */
  maxMilliseconds: number
}

export const WHOLE_LIMITS: WholeLimits = { stallMilliseconds: 30_000, maxMilliseconds: 600_000 }

/** What is made in memory at most: it is joined, compressed and tagged while nothing else runs. */
const MAX_MADE_BYTES = 8_388_608
/** Answers that are looked into at once, to learn whether they are larger; more wait for their turn, which comes soon. */
const MAX_MAKING = 2

/** Retry-After where as many answers as an endpoint makes at once are under way. */
const RETRY_SECONDS = 10

type Deps = ServeDeps & { limits: WholeLimits }

/** One whole answer to one client. */
interface Asked {
  request: FastifyRequest
  reply: FastifyReply
  whole: WholeAnswer
  isGzip: boolean
}

/**
 * Registers reads whose answer has no pages. One that fits in an eighth of the cache, and in 8 MiB, is made once for all who
 * ask, tagged and held as any read is. A larger one goes out as it is read, to each client from a snapshot of its own.
 */
export function serveWholes(app: FastifyInstance, deps: Deps, record: Record): ServeWhole {
  const { bounds } = deps
  return (endpoint, plan) => {
    record(endpoint, true)
    const turns = new Turns(endpoint.maxAtOnce ?? 1)
    const making = new Pool(
      () => ({}),
      () => undefined,
      MAX_MAKING,
    )
    app.route({
      method: ['GET', 'HEAD'],
      url: toRoute(endpoint.path),
      onRequest: async (request) => requireScope(endpoint as Endpoint, request),
      handler: async (request, reply) => {
        const query = readQuery(endpoint, request, bounds)
        const whole = plan(query.values as never)
        const isGzip = takesGzip(request.headers['accept-encoding'])
        const asked = { request, reply, whole, isGzip }
        const key = `${isGzip ? 'gzip' : ''} ${endpoint.path}?${new URLSearchParams(query.kept)}`
        const held = await heldFor(deps, request, key)
        if (held) return sendMade(deps, asked, held, true)
        return answer(deps, asked, { turns, making }, key)
      },
    })
  }
}

/** Makes an answer, or waits for who makes it, and sends it; one that is too large goes out as it is read. */
async function answer(
  deps: Deps,
  asked: Asked,
  { turns, making }: { turns: Turns; making: Pool<object> },
  key: string,
): Promise<FastifyReply> {
  const { request, reply, isGzip } = asked
  for (;;) {
    let led: Reading | undefined
    const work = () =>
      making.use(() => {
        led = read(deps, asked, turns)
        return madeOf(led, isGzip)
      })
    try {
      return sendMade(deps, asked, await deps.cache.make(key, request.versions.donnees, work), false)
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error
      // It goes out to the client who asked first; whoever waited for it too asks anew.
      if (led) await led.ended.catch((cause: unknown) => tellCut(asked, cause))
      if (led && request.method === 'HEAD') return reply.headers(streamHeadOf(asked)).send()
      if (led || request.raw.socket.destroyed) return reply.hijack()
    }
  }
}

function sendMade({ admission, limits }: Deps, asked: Asked, ready: Ready, isCached: boolean): FastifyReply {
  const { request, reply, whole } = asked
  cutStalled(asked, limits)
  return sendReady(request, reply.headers(headOf(asked)), ready, {
    admission,
    isCached,
    contentType: whole.contentType,
  })
}

/** An answer that is being read: what is known once it is whole or too large, and when its snapshot has ended. */
interface Reading {
  begun: Promise<{ texts: string[]; isWhole: boolean; version: number }>
  ended: Promise<void>
}

/** The answer does not fit in memory: it goes out as it is read. */
class TooLarge extends Error {}

function read({ store, cache, limits }: Deps, asked: Asked, turns: Turns): Reading {
  let begin: (start: Awaited<Reading['begun']>) => void
  const start = new Promise<Awaited<Reading['begun']>>((resolve) => {
    begin = resolve
  })
  const ended = store.stream(async (db, { donnees }) => {
    const pieces = asked.whole.pieces(db)[Symbol.asyncIterator]()
    const { texts, isWhole } = await collect(pieces, Math.min(cache.maxEntryBytes, MAX_MADE_BYTES))
    const goOn = async () => {
      begin({ texts, isWhole, version: donnees })
      if (!isWhole && asked.request.method !== 'HEAD') await sendOn(asked, limits, bytesOf(texts, pieces))
    }
    if (isWhole) return goOn()
    // There the end of the connection is that of the answer, so that one which was cut would pass for whole.
    if (asked.request.raw.httpVersion === '1.0') throw new Problem('http_1_1_required')
    await turns.use(asked.request, goOn)
  })
  return { begun: Promise.race([start, ended.then(() => start)]), ended }
}

async function madeOf({ begun, ended }: Reading, isGzip: boolean): Promise<Made> {
  const { texts, isWhole, version } = await begun
  if (!isWhole) throw new TooLarge()
  await ended
  const plain = Buffer.from(texts.join(''))
  const body = isGzip ? await promisify(gzip)(plain) : plain
  return { ready: { body, etag: etagOf(body) }, depends: undefined, version }
}

/** Reads up to so many bytes, or a piece more. */
async function collect(
  pieces: AsyncIterator<string>,
  maxBytes: number,
): Promise<{ texts: string[]; isWhole: boolean }> {
  const texts: string[] = []
  for (let bytes = 0; bytes <= maxBytes; ) {
    const { done, value } = await pieces.next()
    if (done) return { texts, isWhole: true }
    texts.push(value)
    bytes += Buffer.byteLength(value)
    await nextTurn()
  }
  return { texts, isWhole: false }
}

/** What was read and what is still to be, as bytes; others have their turn of the event loop after each piece. */
async function* bytesOf(texts: string[], rest: AsyncIterator<string>): AsyncGenerator<Buffer> {
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

/** Sends as the client takes it. Whatever goes wrong cuts the connection, so that nobody takes half for the whole. */
async function sendOn(asked: Asked, limits: WholeLimits, bytes: AsyncGenerator<Buffer>): Promise<void> {
  const { request, reply, isGzip } = asked
  if (request.raw.socket.destroyed) return
  reply.hijack()
  reply.raw.writeHead(200, { ...(reply.getHeaders() as object), ...streamHeadOf(asked) })
  cutStalled(asked, limits)
  const signal = AbortSignal.timeout(limits.maxMilliseconds)
  if (isGzip) await pipeline(bytes, createGzip(), reply.raw, { signal })
  else await pipeline(bytes, reply.raw, { signal })
}

/** A client that takes nothing for too long is cut, whether its answer is held or read. */
function cutStalled({ request, reply }: Asked, { stallMilliseconds }: WholeLimits): void {
  reply.raw.setTimeout(stallMilliseconds, () => {
    request.log.warn({ request_id: request.id }, 'the client takes nothing of its answer, which is cut')
    request.raw.socket.destroy()
  })
}

/** A client that went away is no fault of ours. */
function tellCut({ request }: Asked, cause: unknown): void {
  if ((cause as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return
  const err = cause instanceof StoreError ? cause.message : cause
  request.log.error({ request_id: request.id, err }, 'an answer was cut before its end')
}

function headOf({ reply, whole: { fileName }, isGzip }: Asked): { [name: string]: string } {
  const vary = reply.getHeader('vary')
  return {
    vary: vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`,
    ...(isGzip ? { 'content-encoding': 'gzip' } : {}),
    ...(fileName === undefined ? {} : { 'content-disposition': `attachment; filename="${fileName}"` }),
  }
}

/** The head of an answer that is not held. */
function streamHeadOf(asked: Asked): { [name: string]: string } {
  return { ...headOf(asked), 'content-type': asked.whole.contentType, 'cache-control': 'private, no-cache' }
}

/** Whether an Accept-Encoding takes gzip, https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3. */
function takesGzip(header = ''): boolean {
  const weights = new Map(
    header.split(',').map((each) => {
      const [coding = '', weight = 'q=1'] = each.split(';')
      return [coding.trim().toLowerCase(), Number(/^\s*q=([01](?:\.\d{0,3})?)\s*$/i.exec(weight)?.[1] ?? 0)]
    }),
  )
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0
}

/** Lets so many answers go out at once and refuses the next; an address without a valid credential has one of them at most. */
class Turns {
  private underWay = 0
  private readonly addresses = new Set<string>()

  constructor(private readonly maxAtOnce: number) {}

  async use<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
    const address = request.principal ? undefined : addressKey(addressOf(request))
    if (this.underWay >= this.maxAtOnce || (address && this.addresses.has(address))) {
      throw new Problem('overloaded', { retryAfterSeconds: RETRY_SECONDS })
    }
    this.underWay++
    if (address) this.addresses.add(address)
    try {
      return await work()
    } finally {
      this.underWay--
      if (address) this.addresses.delete(address)
    }
  }
}
