import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import type { Answer, Endpoint, ReadContext, ServeAction, ServeRead } from '../contract.js'
import { Problem } from '../errors.js'
import { toJsonBuffer } from '../json.js'
import type { Bounds, Parameters } from '../parameters.js'
import { type Db, type Store, StoreError, type Versions } from '../store/store.js'
import type { Admission } from './admission.js'
import { BulkBodies } from './bulk.js'
import type { Made, Ready, ResponseCache } from './cache.js'
import { linkHeader } from './links.js'
import type { Metrics } from './metrics.js'
import { addressOf, type Origins } from './origin.js'
import { decodeQuery, ignoredNames, type ParsedQuery, parsePath, parseQuery } from './query.js'

/** The query parameters that an endpoint does not know. */
const IGNORED_HEADER = 'x-parametres-ignores'
export const JSON_TYPE = 'application/json; charset=utf-8'

export interface ServeDeps {
  store: Store
  cache: ResponseCache
  origins: Origins
  admission: Admission
  metrics: Metrics
  challengeUrl: ReadContext['challengeUrl']
  bounds: Bounds
}

/** Records what is served, for the API's own description, and whether its responses are cached. */
export type RecordOperation = (endpoint: Endpoint, isHeld: boolean) => void

/** Registers reads. A response that is cached and current is sent as it is; otherwise it is read in one snapshot and cached. */
export function serveReads(app: FastifyInstance, deps: ServeDeps, record: RecordOperation): ServeRead {
  const { origins, challengeUrl, bounds } = deps
  return (endpoint, handler) => {
    record(endpoint, true)
    app.get(toRoute(endpoint.path), (request, reply) => {
      const base = endpoint.paged ? origins.baseUrl(request) : ''
      return sendRead(deps, request, reply, `${base} ${request.raw.url}`, () => {
        const query = readQuery(endpoint, request, reply, bounds)
        const parameters = { ...readPath(endpoint, request, bounds), ...query.values } as never
        const make = async (db: Db) => {
          const answer = await handler({ db, challengeUrl }, parameters)
          return makeReady(endpoint, answer, query, `${base}${pathOf(endpoint, request)}`)
        }
        return { make, isLong: endpoint.isLong?.(query.values as never) ?? false }
      })
    })
  }
}

/** How to make a response that is not cached. */
export interface Making {
  make(db: Db): Promise<Ready>
  /** Whether it may block the event loop for too long. */
  isLong: boolean
}

/** Answers a read from the cache; if the key is not cached, `prepare` says how to make the response. */
export async function sendRead(
  deps: ServeDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  key: string,
  prepare: () => Making,
): Promise<FastifyReply> {
  const { store, cache, admission } = deps
  const cached = await cachedFor(deps, request, key)
  if (cached) return sendReady(request, reply, cached, { admission, isCached: true })

  const { make, isLong } = prepare()
  const read = async (db: Db, version: Versions) => madeFrom(db, version, await make(db))
  const work = () => store.read(read, { source: 'any', isLong }).catch(isLong ? toTooBroad : undefined)
  const ready = await cache.make(key, request.versions.donnees, work)
  return sendReady(request, reply, ready, { admission, isCached: false })
}

/** What was read in a snapshot so far decides how long an answer stays cached. */
export function madeFrom({ reads }: Pick<Db, 'reads'>, { donnees: version }: Versions, ready: Ready): Made {
  if (!reads) throw new Error('an answer is made from a snapshot')
  return { ready, dependencies: reads.dependencies(), version }
}

/** The cached response of a key that is current at the version that the request must see. */
export async function cachedFor(
  { cache, metrics }: ServeDeps,
  { versions: { donnees } }: FastifyRequest,
  key: string,
): Promise<Ready | undefined> {
  const reached = cache.reach(donnees)
  if (reached) await reached
  const cached = cache.get(key, donnees)
  metrics.cacheAnswered(cached !== undefined)
  return cached
}

/** Turns the timeout of a long read into `search_too_broad`. */
function toTooBroad(error: unknown): never {
  if (!(error instanceof StoreError) || error.fault !== 'slow') throw error
  throw new Problem('search_too_broad', { cause: error })
}

/** Registers operations that are about the caller or change something. Their responses are never cached. */
export function serveActions(
  app: FastifyInstance,
  { origins, bounds }: ServeDeps,
  record: RecordOperation,
): ServeAction {
  const bulk = new BulkBodies(bounds.maxBulkBytes)
  return (endpoint, handler) => {
    const isBulk = endpoint.requestBody?.isBulk === true
    record(endpoint, false)
    app.route({
      method: endpoint.method,
      url: toRoute(endpoint.path),
      exposeHeadRoute: endpoint.head,
      onRequest: async (request, reply) => {
        if (endpoint.refusesForeign) origins.refuseForeign(request)
        requireScope(endpoint, request)
        checkContentType(endpoint, request)
        if (isBulk) bulk.admit(request, reply)
      },
      ...(isBulk ? { bodyLimit: bounds.maxBulkBytes } : {}),
      handler: async (request, reply) => {
        const query = readQuery(endpoint, request, reply, bounds)
        const given = {
          parameters: { ...readPath(endpoint, request, bounds), ...query.values } as never,
          body: request.body,
          principal: request.principal,
          address: addressOf(request),
          secure: origins.isSecure(request),
        }
        const answer = await bulk.use(request, () => handler(given))
        reply
          .code(endpoint.status)
          .header('cache-control', 'no-store')
          .headers(answer.headers ?? {})
        if (answer.page) {
          const address = `${origins.baseUrl(request)}${pathOf(endpoint, request)}`
          reply.header('link', linkHeader(address, endpoint, query.kept, answer.page))
          reply.header('x-total-count', String(answer.page.total))
        }
        if (answer.body === undefined) return reply.send()
        return reply.header('content-type', JSON_TYPE).send(toJsonBuffer(answer.body))
      },
    })
  }
}

/** What `sendReady` must know of a ready body. */
export interface Sending {
  admission: Admission
  /** Whether it was cached when the request arrived; one that was still in flight was not. */
  isCached: boolean
  contentType?: string
}

/** Sends a ready body, or 304 if the client has it. A 304 is free if the body was cached and the condition names its tag. */
export function sendReady(
  request: FastifyRequest,
  reply: FastifyReply,
  ready: Ready,
  { admission, isCached, contentType = JSON_TYPE }: Sending,
): FastifyReply {
  reply.header('etag', ready.etag).header('cache-control', 'private, no-cache')
  if (ready.link !== undefined) reply.header('link', ready.link)
  if (ready.total !== undefined) reply.header('x-total-count', ready.total)
  if (ready.ignored !== undefined) reply.header(IGNORED_HEADER, ready.ignored)
  const condition = request.headers['if-none-match']
  if (condition === undefined || !isMatch(condition, ready.etag)) {
    return reply.header('content-type', contentType).send(ready.body)
  }
  if (isCached && isNamed(condition, ready.etag)) admission.refund(request, reply)
  return reply.code(304).send()
}

/** A strong tag: the same bytes always have the same, other bytes another. */
export function etagOf(body: Buffer): string {
  return `"${hash('sha256', body, 'base64url').slice(0, 27)}"`
}

function makeReady(endpoint: Endpoint, answer: Answer<TSchema>, query: ReadQuery, address: string): Ready {
  const body = toJsonBuffer(answer.body)
  const ready: Ready = { body, etag: etagOf(body) }
  if (query.ignored !== undefined) ready.ignored = query.ignored
  if (answer.page) {
    if (endpoint.paged) ready.link = linkHeader(address, endpoint, query.kept, answer.page)
    if (answer.page.total !== undefined) ready.total = String(answer.page.total)
  }
  return ready
}

/** Throws `scope_required` if the credential lacks the scope of the operation. */
export function requireScope({ scope }: Endpoint, { principal }: FastifyRequest): void {
  if (scope && !principal?.portee.includes(scope)) throw new Problem('scope_required')
}

type ReadQuery = ParsedQuery & { ignored: string | undefined }

/** The checked parameters of a query. What the endpoint does not know of it is noted on the reply, a refusal too. */
export function readQuery(endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply, bounds: Bounds): ReadQuery {
  const query = decodeQuery(queryOf(request))
  const ignored = ignoredNames(endpoint.query, query)
  if (ignored !== undefined) reply.header(IGNORED_HEADER, ignored)
  return { ...parseQuery(endpoint.query, query, bounds), ignored }
}

/** The text after `?`, as it came. */
export function queryOf({ raw: { url = '' } }: FastifyRequest): string {
  const mark = url.indexOf('?')
  return mark < 0 ? '' : url.slice(mark + 1)
}

function readPath(endpoint: Endpoint, request: FastifyRequest, bounds: Bounds): { [name: string]: unknown } {
  return parsePath(endpoint.pathParameters, request.params as { [name: string]: string }, bounds)
}

/** The path as the contract writes it, whatever slashes the client sent. */
function pathOf(endpoint: Endpoint<Parameters>, request: FastifyRequest): string {
  const given = request.params as { [name: string]: string }
  return endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => given[name] as string)
}

function checkContentType(endpoint: Endpoint, request: FastifyRequest): void {
  const type = request.headers['content-type']
  if (!endpoint.requestBody || type === undefined) return
  const essence = (type.split(';')[0] as string).trim().toLowerCase()
  const encoding = request.headers['content-encoding'] ?? 'identity'
  const charset = /;\s*charset="?([^";\s]*)/i.exec(type)?.[1] ?? 'utf-8'
  const isReadable = encoding === 'identity' && /^(utf-?8|us-ascii)$/i.test(charset)
  if (!isReadable || !endpoint.requestBody.contentTypes.includes(essence)) throw new Problem('unsupported_media_type')
}

/** Whether an If-None-Match matches a tag: by its name, or as `*`. */
export function isMatch(condition: string, etag: string): boolean {
  return isNamed(condition, etag) || condition.split(',').some((tag) => tag.trim() === '*')
}

/** The weak comparison, https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2. */
function isNamed(condition: string, etag: string): boolean {
  return condition === etag || condition.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}

export function toRoute(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}
