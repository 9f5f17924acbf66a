import { type Answer, attempt, type Fetch, linked, type Outgoing } from './attempt.js'
import type { Cache, CacheEntry } from './cache.js'
import { toError, unexpected } from './errors.js'
import { Partition } from './partition.js'
import { type RetrySettings, retried } from './retry.js'

export interface TransportSettings extends RetrySettings {
  /** Requests go to its origin, and nowhere else. */
  base: URL
  apiKey: string | undefined
  fetch: Fetch
  cache: Cache | undefined
  timeoutMilliseconds: number
  /** Ends all requests. */
  signal: AbortSignal | undefined
}

export interface SendOptions {
  signal?: AbortSignal | undefined
  /** Whether sending it twice does what sending it once does. */
  isRepeatable?: boolean | undefined
}

/** What is held of an answer besides its body. */
const HELD_HEADERS = ['content-type', 'link', 'x-total-count']

/** Every request of a client goes through here: credential, then held answer, then tries, each with its time. */
export class Transport {
  readonly #settings: TransportSettings
  readonly #partition: Partition

  constructor(settings: TransportSettings) {
    this.#settings = settings
    this.#partition = new Partition(settings.apiKey)
  }

  /** Sends a request; its answer is whole. Throws where none came, or a redirect. */
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

  /** The same, and throws `PalmaresError` for what is no success. */
  async succeed(request: Request, options?: SendOptions): Promise<Response> {
    const response = await this.send(request, options)
    if (response.ok) return response
    throw toError(whatOf(request), response.status, response.headers, await response.text())
  }

  async #prepare(request: Request): Promise<Outgoing> {
    const { base, apiKey } = this.#settings
    if (new URL(request.url).origin !== base.origin) throw new TypeError(`This client asks ${base.origin} alone.`)
    const headers = new Headers(request.headers)
    if (apiKey !== undefined) headers.set('authorization', `Bearer ${apiKey}`)
    const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
    return {
      what: whatOf(request),
      url: request.url,
      method: request.method,
      headers,
      body: (hasBody && (await request.text())) || undefined,
      // Beside a session the server would not look at the key, so a browser must not send its cookies with one.
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

  /** Undefined where the answer is not to be held, or the caller has a tag of their own. */
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
      // A full or broken cache costs time only.
    }
  }
}

/** The method and the path: a query may hold what is secret. */
export function whatOf({ method, url }: { method: string; url: string }): string {
  return `${method} ${new URL(url).pathname}`
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** A browser shows a redirect that it did not follow as the status 0. */
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
