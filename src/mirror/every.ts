import { StoreError } from '../store/store.js'
import type { Clock } from './clock.js'
import { MirrorError } from './errors.js'

/** Timers are limited to some weeks. */
const MAX_SLEEP_MILLISECONDS = 86_400_000

export interface EveryOptions {
  /** Seconds from the start of one pass to the start of the next; after a longer pass the next starts immediately. */
  every: number
  clock: Clock
  signal: AbortSignal
  tell(message: string): void
}

/**
 * Repeats passes until the signal. After a failed pass, which is reported, the next one starts as planned, or when the portal
 * allows it.
 */
export async function passAfterPass(options: EveryOptions, pass: () => Promise<void>): Promise<void> {
  const { every, clock, signal, tell } = options
  while (!signal.aborted) {
    const begun = clock.now()
    let retryAt = 0
    try {
      await pass()
    } catch (error) {
      if (!(error instanceof MirrorError || error instanceof StoreError)) throw error
      tell(`error: ${error.message}; completed batches are kept, and the next pass resumes`)
      if (error instanceof MirrorError) retryAt = error.retryAt ?? 0
    }
    await waitUntil(Math.max(begun + every * 1_000, retryAt), clock, signal)
  }
}

async function waitUntil(at: number, { now, sleep }: Clock, signal: AbortSignal): Promise<void> {
  while (now() < at && !signal.aborted) {
    await sleep(Math.min(at - now(), MAX_SLEEP_MILLISECONDS), signal).catch((error) => {
      if (error !== signal.reason) throw error
    })
  }
}
