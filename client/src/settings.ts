import type { Fetch } from './attempt.js'
import type { Cache } from './cache.js'
import type { TransportSettings } from './transport.js'

export interface PalmaresOptions {
  /** The server's URL, including its path if any. In a browser, the default is the origin of the page. */
  baseUrl?: string | URL
  /** Sent as `Authorization: Bearer`. Without it, a browser sends its session cookie on its own origin. */
  apiKey?: string | undefined
  /** Replaces `globalThis.fetch`. */
  fetch?: Fetch
  /** Stores responses and their ETags. Without it nothing is cached. */
  cache?: Cache | undefined
  /** Maximum retries of a read or of validations after a temporary failure. Default: 3. */
  retries?: number
  /** Maximum total wait before the retries of a request. Default: 60,000. */
  maxWaitMilliseconds?: number
  /** Limit for one attempt, until its response is complete. Default: 30,000. */
  timeoutMilliseconds?: number
  /** Aborts all requests of the client. */
  signal?: AbortSignal | undefined
}

/** The longest delay of a timer; a longer one would fire at once. */
const MAX_MILLISECONDS = 2_147_483_647

/** Checks the options of a client. Error messages never contain the key or the URL, which may contain a password. */
export function readSettings(options: PalmaresOptions): TransportSettings {
  const { apiKey, cache, signal, retries = 3, maxWaitMilliseconds = 60_000, timeoutMilliseconds = 30_000 } = options
  // The platform's own error for such a header would show the key.
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError('apiKey contains characters that an API key cannot have.')
  return {
    base: readBase(options.baseUrl),
    apiKey,
    // Looked up for each request, so that a later replacement of `fetch` is used.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    cache,
    signal,
    retries: readNumber('retries', retries, 0, 100),
    maxWaitMilliseconds: readNumber('maxWaitMilliseconds', maxWaitMilliseconds, 0, MAX_MILLISECONDS),
    timeoutMilliseconds: readNumber('timeoutMilliseconds', timeoutMilliseconds, 1, MAX_MILLISECONDS),
  }
}

function readBase(given: string | URL | undefined): URL {
  const page = (globalThis as { location?: { href: string; origin: string } }).location
  const text = String(given ?? page?.origin ?? '')
  const base = URL.canParse(text, page?.href) ? new URL(text, page?.href) : undefined
  if (!base || !/^https?:$/.test(base.protocol) || base.username || base.password || base.search || base.hash) {
    throw new TypeError('baseUrl must be an http or https URL without a user, a query or a fragment.')
  }
  return base
}

function readNumber(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new RangeError(`${name} must be an integer from ${min} to ${max}.`)
}
