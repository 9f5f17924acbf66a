import { type Clock, realClock } from '../src/mirror/clock.js'
import type { MirrorOptions } from '../src/mirror/context.js'
import { DEFAULT_EXCHANGE_LIMITS, type ExchangeLimits } from '../src/mirror/exchange.js'
import { mirrorPass, type PassReport } from '../src/mirror/pass.js'
import { claim } from '../src/mirror/state.js'
import { makeTransport } from '../src/mirror/transport.js'
import type { Store } from '../src/store/store.js'
import { defaultOptions } from './harness.js'
import { PATIENCE } from './patience.js'

/** A clock that only `sleep` advances, so that no test waits. */
export interface FakeClock extends Clock {
  /** The length of each wait, in milliseconds. */
  waits: number[]
}

export function makeClock(at = Date.parse('2026-03-01T12:00:00Z')): FakeClock {
  const waits: number[] = []
  let now = at
  return {
    waits,
    now: () => now,
    async sleep(milliseconds, signal) {
      signal.throwIfAborted()
      waits.push(milliseconds)
      now += milliseconds
    },
  }
}

/** Timeouts long enough for a slow machine. */
const LIMITS: ExchangeLimits = {
  ...DEFAULT_EXCHANGE_LIMITS,
  connectMilliseconds: PATIENCE.timeout,
  silenceMilliseconds: PATIENCE.timeout,
  wholeMilliseconds: PATIENCE.timeout,
}

export interface MirrorSettings extends Partial<Omit<MirrorOptions, 'store' | 'transport'>> {
  key?: string
  requestsPerSecond?: number
  limits?: Partial<ExchangeLimits>
  warnings?: string[]
  retries?: string[]
}

/** One pass into a store, as `palmares mirror` runs it, without a rate limit unless set. */
export async function mirrorInto(store: Store, url: string, settings: MirrorSettings = {}): Promise<PassReport> {
  const { key = 'secret', requestsPerSecond = 1_000_000, limits, warnings = [], retries = [], ...given } = settings
  const { signal = new AbortController().signal, clock = realClock, connections = 1 } = given
  const transport = makeTransport({
    ...{ base: url, key, userAgent: 'palmares/test', requestsPerSecond, connections, clock, signal },
    limits: { ...LIMITS, ...limits },
    onRetry: (message) => retries.push(message),
  })
  try {
    await claim(store, `${url}/`)
    return await mirrorPass({
      portalUrl: defaultOptions().portalUrl,
      onProgress: () => undefined,
      onWarning: (message) => warnings.push(message),
      ...given,
      ...{ store, transport, clock, signal, connections },
    })
  } finally {
    transport.close()
  }
}
