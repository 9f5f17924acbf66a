import { setTimeout as sleep } from 'node:timers/promises'

/** Time as the mirror waits for it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Throws the signal's reason once that is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>
}

export const realClock: Clock = {
  now: Date.now,
  async sleep(milliseconds, signal) {
    await sleep(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted())
  },
}
