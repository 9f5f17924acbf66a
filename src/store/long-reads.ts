import type { Deadline } from '../semaphore.js'
import { StoreError } from './store.js'

/** What one long read may take in all, with its wait for those before it. */
const BUDGET_MILLISECONDS = 2_000

/** The queue of long reads: more would only wait for their time to be up. */
export const LONG_READS_QUEUE = { maxQueued: 50, full: () => tooSlow('too many long reads wait already') }

/** Begins a long read. Throws `StoreError` `slow` when its time is up, whatever still runs for it then. */
export function withinBudget<R>(begin: (deadline: Deadline) => Promise<R>): Promise<R> {
  const late = () => tooSlow(`a read takes longer than the ${BUDGET_MILLISECONDS} ms that it is given`)
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), BUDGET_MILLISECONDS)
    begin({ at: Date.now() + BUDGET_MILLISECONDS, late })
      .finally(() => clearTimeout(timer))
      .then(resolve, reject)
  })
}

function tooSlow(message: string): StoreError {
  return new StoreError('slow', message)
}
