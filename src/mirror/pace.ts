import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from './clock.js'
import { MirrorError } from './errors.js'

/** Whoever asks for more patience than this is told to the operator instead of waited for. */
const MAX_WAIT_MILLISECONDS = 3_600_000
/** Nobody means more than this, whatever they write: past it, one request asks how things stand. */
const MAX_REST_MILLISECONDS = 7 * 86_400_000

/** When the next request may be sent: by our own ceiling, and by what the other side says of its limits. */
export interface Pace {
  /** Waits for the turn of a request. Throws `MirrorError` where that would take more than an hour. */
  turn(signal: AbortSignal): Promise<void>
  /** Reads RateLimit: nothing is left, or what is left is spread over the rest of the window. */
  heed(headers: IncomingHttpHeaders): void
  /** No request before so long from now, those that wait for their turn among them; a week at most. */
  rest(milliseconds: number): void
  /** How long the limits of the other side made us wait so far, beyond our own ceiling. */
  waitedMilliseconds(): number
}

export function makePace(requestsPerSecond: number, clock: Clock): Pace {
  const intervalMilliseconds = 1_000 / requestsPerSecond
  let ours = 0
  let theirs = 0
  let waited = 0
  const rest = (milliseconds: number) => {
    theirs = Math.max(theirs, clock.now() + Math.min(milliseconds, MAX_REST_MILLISECONDS))
  }
  return {
    async turn(signal) {
      for (;;) {
        const now = clock.now()
        const slot = Math.max(now, ours)
        const at = Math.max(slot, theirs)
        if (at - now > MAX_WAIT_MILLISECONDS) {
          throw new MirrorError(`the portal asks to be left alone until ${new Date(at).toISOString()}`, at)
        }
        // The turn is taken before the wait, so that the next one comes after it.
        ours = at + intervalMilliseconds
        waited += at - slot
        if (at > now) await clock.sleep(at - now, signal)
        // Another connection may have been told to rest meanwhile.
        if (theirs <= at) return
      }
    },
    heed(headers) {
      for (const { left, seconds } of windowsOf(headers)) rest((seconds * 1_000) / Math.max(left, 1))
    },
    rest,
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

/** What Retry-After asks for, whole seconds or a date; undefined where there is none that can be read. */
export function retryAfterMilliseconds(headers: IncomingHttpHeaders, now: number): number | undefined {
  const text = headers['retry-after']?.trim() ?? ''
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1_000
  // `Date.parse` takes much for a date, -5 and 1.5 among it.
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
