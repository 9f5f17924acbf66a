import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Endpoint, ServeWhole } from '../contract.js'
import { Pool } from '../store/pool.js'
import type { Made, Ready } from './cache.js'
import { type Asked, bytesOf, cutStalled, goOut, headOf, sendLarge, sendOn, Turns, type WholeLimits } from './large.js'
import { etagOf, heldFor, type Record, readQuery, requireScope, type ServeDeps, sendReady, toRoute } from './serve.js'

/** The largest answer that is made in memory: it is joined, compressed and tagged while nothing else runs. */
const MAX_MADE_BYTES = 8_388_608
/** How many size probes run at once; others queue briefly. */
const MAX_MAKING = 2

type Deps = ServeDeps & { limits: WholeLimits }

/**
 * Registers reads whose answer has no pages. One that fits in an eighth of the cache, and in 8 MiB, is made once for all who
 * ask, tagged and cached as any read is. A larger one is streamed, to each client from a snapshot of its own.
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
        const query = readQuery(endpoint, request, reply, bounds)
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

/**
 * Makes an answer, or waits for the request that makes it, and sends it. What is shared with those that wait is the answer, or
 * that it is too large: each of them is then refused, or served from a snapshot of its own.
 */
async function answer(
  deps: Deps,
  asked: Asked,
  { turns, making }: { turns: Turns; making: Pool<object> },
  key: string,
): Promise<FastifyReply> {
  let led: Reading | undefined
  const work = () =>
    making.use(() => {
      led = read(deps, asked, turns)
      return madeOf(led, asked.isGzip)
    })
  try {
    return sendMade(deps, asked, await deps.cache.make(key, asked.request.versions.donnees, work), false)
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error
  }
  return sendLarge(asked, led ? led.ended : readAlone(deps, asked, turns))
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

/** The answer does not fit in memory. It goes out as it is read, to each that asked. */
class TooLarge extends Error {}

function read({ store, cache, limits }: Deps, asked: Asked, turns: Turns): Reading {
  let begin: (start: Awaited<Reading['begun']>) => void
  const start = new Promise<Awaited<Reading['begun']>>((resolve) => {
    begin = resolve
  })
  const ended = store.stream(async (db, { donnees }) => {
    const pieces = asked.whole.pieces(db)[Symbol.asyncIterator]()
    const { texts, isWhole } = await collect(pieces, Math.min(cache.maxEntryBytes, MAX_MADE_BYTES))
    begin({ texts, isWhole, version: donnees })
    if (!isWhole) await goOut(asked, turns, () => sendOn(asked, limits, bytesOf(texts, pieces)))
  })
  return { begun: Promise.race([start, ended.then(() => start)]), ended }
}

/** Sends an answer that is known to be too large, from a snapshot that is not opened before its turn. */
function readAlone({ store, limits }: Deps, asked: Asked, turns: Turns): Promise<void> {
  return goOut(asked, turns, () =>
    store.stream((db) => sendOn(asked, limits, bytesOf([], asked.whole.pieces(db)[Symbol.asyncIterator]()))),
  )
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
