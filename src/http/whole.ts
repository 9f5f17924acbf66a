import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Endpoint, ServeWhole } from '../contract.js'
import { Semaphore } from '../semaphore.js'
import type { Made, Ready } from './cache.js'
import {
  type Asked,
  bytesOf,
  cutStalled,
  headOf,
  LargeAnswers,
  sendLarge,
  streamTo,
  type WholeLimits,
} from './large.js'
import {
  cachedFor,
  etagOf,
  madeFrom,
  type RecordOperation,
  readQuery,
  requireScope,
  type ServeDeps,
  sendReady,
  toRoute,
} from './serve.js'

/** Maximum size of a response that is built in memory. Joining and hashing it block the event loop. */
const MAX_MADE_BYTES = 8_388_608
/** How many size probes run at once; others queue briefly. */
const MAX_PROBES = 2

type Deps = ServeDeps & { limits: WholeLimits }
type Slots = { large: LargeAnswers; probes: Semaphore }

/**
 * Registers reads whose response is not paged. One that fits in an eighth of the cache, and in 8 MiB, is built once for all
 * concurrent requests, tagged and cached like other reads. A larger one is streamed to each client from its own snapshot.
 */
export function serveWholes(app: FastifyInstance, deps: Deps, record: RecordOperation): ServeWhole {
  const { bounds } = deps
  return (endpoint, plan) => {
    record(endpoint, true)
    const large = new LargeAnswers(endpoint.maxAtOnce ?? 1)
    const slots = { large, probes: new Semaphore({ permits: MAX_PROBES }) }
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
        const cached = await cachedFor(deps, request, key)
        if (cached) return sendMade(deps, asked, cached, true)
        return answer(deps, asked, slots, key)
      },
    })
  }
}

/**
 * Builds a response, or waits for a request that is building the same one. They share the response, or the result that it is
 * too large; then each is refused or streamed. The request that read it streams on from its snapshot, others from their own.
 */
async function answer(deps: Deps, asked: Asked, { large, probes }: Slots, key: string): Promise<FastifyReply> {
  let reading: Promise<Made | undefined> | undefined
  const build = () =>
    new Promise<Made>((resolve, reject) => {
      reading = read(deps, asked, large, () => reject(new TooLarge()))
      reading.then((made) => made && resolve(made), reject)
    })
  try {
    const { donnees } = asked.request.versions
    return sendMade(deps, asked, await deps.cache.make(key, donnees, () => probes.run(build)), false)
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error
  }
  return sendLarge(asked, reading ?? readAlone(deps, asked, large))
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

/** The response does not fit in memory. It is streamed to each caller. */
class TooLarge extends Error {}

/** Reads a response that fits in memory. Calls `onLarge` for one that does not, and streams it. */
function read(deps: Deps, asked: Asked, large: LargeAnswers, onLarge: () => void): Promise<Made | undefined> {
  const { store, cache, limits } = deps
  return store.stream(async (db, versions) => {
    const pieces = asked.whole.pieces(db)[Symbol.asyncIterator]()
    const { texts, isWhole } = await collect(pieces, Math.min(cache.maxEntryBytes, MAX_MADE_BYTES))
    if (isWhole) return madeFrom(db, versions, await readyOf(texts, asked.isGzip))
    onLarge()
    await large.send(asked, () => streamTo(asked, limits, bytesOf(texts, pieces)))
  })
}

/**
 * Streams a response that is known to be too large. Its snapshot opens only after the limit of concurrent responses admits it.
 */
function readAlone({ store, limits }: Deps, asked: Asked, large: LargeAnswers): Promise<void> {
  return large.send(asked, () =>
    store.stream((db) => streamTo(asked, limits, bytesOf([], asked.whole.pieces(db)[Symbol.asyncIterator]()))),
  )
}

async function readyOf(texts: string[], isGzip: boolean): Promise<Ready> {
  const plain = Buffer.from(texts.join(''))
  const body = isGzip ? await promisify(gzip)(plain) : plain
  return { body, etag: etagOf(body) }
}

/** Reads at most one piece more than `maxBytes`. */
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

/** Whether an Accept-Encoding accepts gzip, https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3. */
function takesGzip(header = ''): boolean {
  const weights = new Map(
    header.split(',').map((each) => {
      const [coding = '', weight = 'q=1'] = each.split(';')
      return [coding.trim().toLowerCase(), Number(/^\s*q=([01](?:\.\d{0,3})?)\s*$/i.exec(weight)?.[1] ?? 0)]
    }),
  )
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0
}
