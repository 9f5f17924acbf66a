import { type Answer, attempt, type Fetch, linked, type Outgoing } from './attempt.js'
import type { Cache, CacheEntry } from './cache.js'
import { toError, unexpected } from './errors.js'
import { Partition } from './partition.js'
import { type RetrySettings, retried } from './retry.js'

export interface TransportSettings extends RetrySettings {
  /** Requests only go to this origin. */
  base: URL
  apiKey: string | undefined
  fetch: Fetch
  cache: Cache | undefined
  timeoutMilliseconds: number
  /** Aborts all requests. */
  signal: AbortSignal | undefined
}

export interface SendOptions {
  signal?: AbortSignal | undefined
  /** Whether the request is idempotent. */
  isRepeatable?: boolean | undefined
}

/** The headers that are cached with a body. */
const HELD_HEADERS = ['content-type', 'link', 'x-total-count']

/** Every request of a client passes here: credential, then cache, then attempts with a timeout each. */
export class Transport {
  readonly #settings: TransportSettings
  readonly #partition: Partition

  constructor(settings: TransportSettings) {
    this.#settings = settings
    this.#partition = new Partition(settings.apiKey)
  }

  /** Sends a request and returns the complete response. Throws if there is none, or if it is a redirect. */
  async send(request: Request, options: SendOptions = {}): Promise<Response> {
    const outgoing = await this.#prepare(request)
    const key = await this.#cacheKey(outgoing)
    const held = key === undefined ? undefined : await this.#held(key)
    if (held) outgoing.headers.set('if-none-match', held.etag)
    const answer = await this.#ask(outgoing, options)
    if (new URL(outgoing.url).pathname.endsWith('/login')) this.#partition.renew()
    if (answer.status === 304 && held) return toResponse(reviveHeld(answer, held))
    if (key !== undefined && answer.status === 200) await this.#hold(key, answer)
    return toResponse(answer)
  }

  /** Like `send`, but throws `PalmaresError` for an error response. */
  async succeed(request: Request, options?: SendOptions): Promise<Response> {
    const response = await this.send(request, options)
    if (response.ok) return response
    throw toError(whatOf(request), response.status, response.headers, await response.text())
  }

  async #prepare(request: Request): Promise<Outgoing> {
    const { base, apiKey } = this.#settings
    if (new URL(request.url).origin !== base.origin)
      throw new TypeError(`This client only sends requests to ${base.origin}.`)
    const headers = new Headers(request.headers)
    if (apiKey !== undefined) headers.set('authorization', `Bearer ${apiKey}`)
    const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
    return {
      what: whatOf(request),
      url: request.url,
      method: request.method,
      headers,
      body: (hasBody && (await request.text())) || undefined,
      // The server prefers a session to a key, so a browser must not send its cookies with a key.
      credentials: apiKey === undefined ? 'same-origin' : 'omit',
    }
  }

  async #ask(outgoing: Outgoing, { signal, isRepeatable = isRead(outgoing.method) }: SendOptions): Promise<Answer> {
    const { fetch, retries, maxWaitMilliseconds, timeoutMilliseconds } = this.#settings
    const { controller, unlink } = linked([this.#settings.signal, signal])
    try {
      controller.signal.throwIfAborted()
      const answer = await retried(
        () => attempt(fetch, outgoing, timeoutMilliseconds, controller.signal),
        { retries: isRepeatable ? retries : 0, maxWaitMilliseconds },
        controller.signal,
      )
      refuseRedirect(outgoing.what, answer)
      return answer
    } finally {
      unlink()
    }
  }

  /** The cache key; undefined if the response must not be cached, or if the caller sends its own If-None-Match. */
  async #cacheKey({ method, url, headers }: Outgoing): Promise<string | undefined> {
    if (!this.#settings.cache || method !== 'GET' || headers.has('if-none-match')) return undefined
    return `${await this.#partition.name()} ${url}`
  }

  async #held(key: string): Promise<CacheEntry | undefined> {
    try {
      return await this.#settings.cache?.get(key)
    } catch {
      return undefined
    }
  }

  async #hold(key: string, { headers, text }: Answer): Promise<void> {
    const etag = headers.get('etag')
    if (etag === null || /\bno-store\b/i.test(headers.get('cache-control') ?? '')) return
    const held = HELD_HEADERS.flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value]]
    })
    try {
      await this.#settings.cache?.set(key, { etag, body: text, headers: Object.fromEntries(held) })
    } catch {
      // A failing cache must not fail the request.
    }
  }
}

/** The method and the path, without the query, which may contain secrets. */
export function whatOf({ method, url }: { method: string; url: string }): string {
  return `${method} ${new URL(url).pathname}`
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Browsers report a redirect that they did not follow as status 0. */
function refuseRedirect(what: string, { status, headers }: Answer): void {
  if (status >= 200 && status < 600 && (status < 300 || status >= 400 || status === 304)) return
  throw unexpected(what, status, headers, 'is a redirect or no answer of HTTP; redirects are not followed')
}

function reviveHeld({ headers }: Answer, { body, headers: held }: CacheEntry): Answer {
  const merged = new Headers(headers)
  for (const [name, value] of Object.entries(held)) merged.set(name, value)
  return { status: 200, headers: merged, text: body }
}

function toResponse({ status, headers, text }: Answer): Response {
  const isBodiless = status === 204 || status === 205 || status === 304
  return new Response(isBodiless ? null : text, { status, headers })
}
