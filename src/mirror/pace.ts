import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from './clock.js'
import { MirrorError } from './errors.js'

/** A longer wait ends the pass and is reported to the operator. */
const MAX_WAIT_MILLISECONDS = 3_600_000
/** Longer waits are treated as a mistake: after this time, one request probes the portal. */
const MAX_REST_MILLISECONDS = 7 * 86_400_000

export type Pace = ReturnType<typeof makePace>

/** Decides when the next request may be sent, by our own limit and the portal's. */
export function makePace(requestsPerSecond: number, clock: Clock) {
  const intervalMilliseconds = 1_000 / requestsPerSecond
  let ours = 0
  let theirs = 0
  let waited = 0
  /** Delays all requests by a time, including those that already wait; at most by a week. */
  const rest = (milliseconds: number) => {
    theirs = Math.max(theirs, clock.now() + Math.min(milliseconds, MAX_REST_MILLISECONDS))
  }
  return {
    /** Waits until a request may be sent. Throws `MirrorError` if that would take more than an hour. */
    async turn(signal: AbortSignal): Promise<void> {
      for (;;) {
        const now = clock.now()
        const slot = Math.max(now, ours)
        const at = Math.max(slot, theirs)
        if (at - now > MAX_WAIT_MILLISECONDS) {
          throw new MirrorError(`the portal asks to wait until ${new Date(at).toISOString()}`, at)
        }
        // The slot is reserved before the wait, so that the next request comes after it.
        ours = at + intervalMilliseconds
        waited += at - slot
        if (at > now) await clock.sleep(at - now, signal)
        // Another connection may have received a longer wait meanwhile.
        if (theirs <= at) return
      }
    },
    /** Reads RateLimit: what is left is spread over the rest of the window; if nothing is left, requests wait for its end. */
    heed(headers: IncomingHttpHeaders): void {
      for (const { left, seconds } of windowsOf(headers)) rest((seconds * 1_000) / Math.max(left, 1))
    },
    rest,
    /** How long the portal's limits made us wait so far, beyond our own limit. */
    waitedMilliseconds: () => waited,
  }
}

/** The windows that RateLimit names: `"compte";r=599;t=42`, comma-separated where there are several. */
function windowsOf({ ratelimit }: IncomingHttpHeaders): { left: number; seconds: number }[] {
  const text = Array.isArray(ratelimit) ? ratelimit.join(',') : (ratelimit ?? '')
  return text.split(',').flatMap((item) => {
    const left = /;\s*r=(\d{1,15})/.exec(item)?.[1]
    const seconds = /;\s*t=(\d{1,15})/.exec(item)?.[1]
    return left === undefined || seconds === undefined ? [] : [{ left: Number(left), seconds: Number(seconds) }]
  })
}

/** What Retry-After asks for, whole seconds or a date; undefined if it is missing or malformed. */
export function retryAfterMilliseconds(headers: IncomingHttpHeaders, now: number): number | undefined {
  const text = headers['retry-after']?.trim() ?? ''
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1_000
  // `Date.parse` accepts too much, such as -5 and 1.5.
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
