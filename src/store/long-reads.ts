import { Pool } from './pool.js'
import { StoreError } from './store.js'

/** More would only wait for their time to be up. */
const MAX_WAITING = 50
/** What one may take in all, with its wait for those before it. */
const BUDGET_MILLISECONDS = 2_000

export interface LongReadOptions<T> {
  make(): T
  dispose(lent: T): unknown
  /** Few leave processors and connections to what is short. */
  maxAtOnce: number
}

/**
 * The reads that may take long: a few at once, each with something lent to it. What finds no room or no time throws
 * `StoreError` `slow`, at the latest when its time is up, whatever still goes on for it then.
 */
export class LongReads<T> {
  private readonly pool: Pool<T>
  private underWay = 0

  constructor(private readonly options: LongReadOptions<T>) {
    this.pool = new Pool(options.make, options.dispose, options.maxAtOnce)
  }

  /** `deadline` is in milliseconds since 1970. */
  run<R>(work: (lent: T, deadline: number) => Promise<R>): Promise<R> {
    const { maxAtOnce } = this.options
    if (this.underWay >= maxAtOnce + MAX_WAITING) return Promise.reject(tooSlow('too many long reads wait already'))
    this.underWay++
    const deadline = Date.now() + BUDGET_MILLISECONDS
    const late = () => tooSlow(`a read takes longer than the ${BUDGET_MILLISECONDS} ms that it is given`)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(late()), BUDGET_MILLISECONDS)
      const begin = async (lent: T) => {
        if (Date.now() >= deadline) throw late()
        return work(lent, deadline)
      }
      const ended = () => {
        clearTimeout(timer)
        this.underWay--
      }
      this.pool.use(begin).finally(ended).then(resolve, reject)
    })
  }

  /** Waits for those under way. */
  close(): Promise<void> {
    return this.pool.close()
  }
}

function tooSlow(message: string): StoreError {
  return new StoreError('slow', message)
}
