import type { Answer } from './attempt.js'
import { PalmaresNetworkError, retryAfterSeconds } from './errors.js'

export interface RetrySettings {
  /** Maximum number of retries of a request. */
  retries: number
  /** Maximum total wait of a request. */
  maxWaitMilliseconds: number
}

/**
 * Retries failures that may be temporary: no complete response, 429, 502, 503 and 504. Waits as long as Retry-After says,
 * otherwise with exponential backoff. If a wait would exceed the limit, returns the response or throws at once.
 */
export async function retried(
  send: () => Promise<Answer>,
  { retries, maxWaitMilliseconds }: RetrySettings,
  signal: AbortSignal,
): Promise<Answer> {
  let left = maxWaitMilliseconds
  for (let tries = 0; ; tries++) {
    const outcome = await send().catch(asOutcome)
    const wait = waitMilliseconds(outcome, tries)
    if (wait === undefined || tries >= retries || wait > left) {
      if (outcome instanceof Error) throw outcome
      return outcome
    }
    left -= wait
    await sleep(wait, signal)
  }
}

function asOutcome(error: unknown): PalmaresNetworkError {
  if (error instanceof PalmaresNetworkError) return error
  throw error
}

const FIRST_WAIT_MILLISECONDS = 250
const LONGEST_WAIT_MILLISECONDS = 10_000
const TRANSIENT = new Set([429, 502, 503, 504])

/** The wait before the next try; undefined if a retry would not help. Without Retry-After it is random, so that clients do not retry in step. */
function waitMilliseconds(outcome: Answer | PalmaresNetworkError, tries: number): number | undefined {
  const jitter = Math.random() * Math.min(LONGEST_WAIT_MILLISECONDS, FIRST_WAIT_MILLISECONDS * 2 ** tries)
  if (outcome instanceof Error) return jitter
  if (!TRANSIENT.has(outcome.status)) return undefined
  return Math.max(jitter, (retryAfterSeconds(outcome.headers) ?? 0) * 1000)
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
