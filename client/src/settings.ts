import type { Fetch } from './attempt.js'
import type { Cache } from './cache.js'
import type { TransportSettings } from './transport.js'

export interface PalmaresOptions {
  /** The server's address, with a path where it has one. In a browser: the origin of the page without. */
  baseUrl?: string | URL
  /** Sent as Authorization: Bearer. Without it a browser sends its session cookie, on its own origin. */
  apiKey?: string | undefined
  /** Instead of `globalThis.fetch`. */
  fetch?: Fetch
  /** Where answers are held, to be asked for again with their ETag. Nothing is held without. */
  cache?: Cache | undefined
  /** How often a read, or validations, are sent again after what may pass; 3 without. */
  retries?: number
  /** What the waits before them may take together, for each request; 60,000 without. */
  maxWaitMilliseconds?: number
  /** What one try may take, until the answer is whole; 30,000 without. */
  timeoutMilliseconds?: number
  /** Ends everything that the client does. */
  signal?: AbortSignal | undefined
}

/** A timer takes no longer time, and would ring at once. */
const MAX_MILLISECONDS = 2_147_483_647

/** Checks the options of a client. No message shows the key or the address, which may hold a password. */
export function readSettings(options: PalmaresOptions): TransportSettings {
  const { apiKey, cache, signal, retries = 3, maxWaitMilliseconds = 60_000, timeoutMilliseconds = 30_000 } = options
  // The platform's own refusal of such a header would show it.
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError('apiKey is not a key of the API.')
  return {
    base: readBase(options.baseUrl),
    apiKey,
    // Looked up with each request, so that what replaces it later is used.
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
    throw new TypeError('baseUrl must be an address with http or https, without a user, a query or a fragment.')
  }
  return base
}

function readNumber(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new RangeError(`${name} takes an integer from ${min} to ${max}.`)
}
