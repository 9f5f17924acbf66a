import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from './clock.js'
import { BadAnswer, MirrorError, NoAnswer } from './errors.js'
import { type ExchangeLimits, exchange, makeAgent, type Raw } from './exchange.js'
import { makePace, retryAfterMilliseconds } from './pace.js'

/** An answer of the other side. */
export interface Answer extends Raw {
  /** What was asked for, under the base address. */
  path: string
}

export interface RequestCounts {
  requests: number
  /** Answers that said that nothing is new. */
  unchanged: number
  /** How long the limits of the other side made us wait. */
  waitedMilliseconds: number
}

export interface TransportOptions {
  /** The address that every path is under, without a slash at its end. */
  base: string
  /** Sent as the cookie `api_key`, to the origin of `base` alone. */
  key: string
  userAgent: string
  requestsPerSecond: number
  connections: number
  clock: Clock
  signal: AbortSignal
  limits: ExchangeLimits
  /** Called once for a path that is retried because the other side does not answer, or fails. */
  onRetry(message: string): void
}

const MAX_REDIRECTS = 5
const MAX_TRIES = 5
const FIRST_RETRY_MILLISECONDS = 1_000
/** The sum of the pauses, which double. */
const RETRY_SECONDS = ((2 ** (MAX_TRIES - 1) - 1) * FIRST_RETRY_MILLISECONDS) / 1_000

export type Transport = ReturnType<typeof makeTransport>

/** The portal as the mirror asks it. */
export function makeTransport(options: TransportOptions) {
  const { base, key, userAgent, requestsPerSecond, connections, clock, signal, limits, onRetry } = options
  const agent = makeAgent(new URL(base), connections)
  const pace = makePace(requestsPerSecond, clock)
  const counts = { requests: 0, unchanged: 0 }
  const own = { accept: 'application/json', cookie: `api_key=${key}`, 'user-agent': userAgent }

  const ask = async (url: URL, etag: string | null | undefined): Promise<Raw> => {
    await pace.turn(signal)
    counts.requests++
    const headers = etag ? { ...own, 'if-none-match': etag } : own
    const raw = await exchange(url, { agent, headers, limits, signal })
    pace.heed(raw.headers)
    if (raw.status === 304) counts.unchanged++
    return raw
  }

  const follow = async (path: string, etag: string | null | undefined): Promise<Raw> => {
    let url = new URL(base + path)
    for (let redirects = 0; ; redirects++) {
      const raw = await ask(url, etag)
      if (!REDIRECTS.includes(raw.status)) return throwIfLater(raw, clock.now())
      if (redirects === MAX_REDIRECTS) throw new BadAnswer(`more than ${MAX_REDIRECTS} redirects`)
      url = redirectOf(raw.headers, url)
    }
  }

  /**
   * Reads a path under the base address: paced, retried where that may help, redirects followed on the same origin. With a tag,
   * 304 says that the cached answer is current. Throws `MirrorError`.
   */
  const get = async (path: string, etag?: string | null): Promise<Answer> => {
    for (let tries = 1; ; tries++) {
      try {
        return { path, ...(await follow(path, etag)) }
      } catch (error) {
        if (error instanceof MirrorError) throw at(path, error)
        if (!(error instanceof NoAnswer)) throw error
        // What the other side asks for holds for every request, those of a later pass among them.
        if (error.retryAfterMilliseconds !== undefined) pace.rest(error.retryAfterMilliseconds)
        // A portal that answers with a server error may answer other paths well.
        const Fault = error.status !== undefined && error.status >= 500 ? BadAnswer : MirrorError
        if (tries === MAX_TRIES) throw new Fault(`${path}: ${error.message}; tried ${tries} times`)
        if (error.retryAfterMilliseconds === undefined) {
          if (tries === 1) onRetry(`${path}: ${error.message}; retrying for ${RETRY_SECONDS} s`)
          await clock.sleep(FIRST_RETRY_MILLISECONDS * 2 ** (tries - 1), signal)
        }
      }
    }
  }

  return {
    base,
    get,
    get counts(): RequestCounts {
      return { ...counts, waitedMilliseconds: pace.waitedMilliseconds() }
    },
    close: () => agent.destroy(),
  }
}

const REDIRECTS = [301, 302, 303, 307, 308]

/** Limits and faults of the server may be better a moment later. */
function throwIfLater(raw: Raw, now: number): Raw {
  if (raw.status !== 429 && raw.status < 500) return raw
  throw new NoAnswer(`it answered ${raw.status}`, retryAfterMilliseconds(raw.headers, now), raw.status)
}

/** The key is for one server: a redirect that leaves it is an error. */
function redirectOf({ location }: IncomingHttpHeaders, from: URL): URL {
  const to = location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined
  if (!to) throw new BadAnswer('a redirect to nowhere')
  if (to.origin !== from.origin) {
    throw new BadAnswer(`a redirect to ${to.origin}; the key is only sent to ${from.origin}`)
  }
  if (to.username !== '' || to.password !== '') throw new BadAnswer('a redirect with a user in its address')
  return to
}

function at(path: string, error: MirrorError): MirrorError {
  if (error instanceof BadAnswer) return new BadAnswer(`${path}: ${error.message}`)
  return new MirrorError(`${path}: ${error.message}`, error.retryAt)
}
