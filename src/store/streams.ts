import { StoreError } from './store.js'

/** Knows the reads that last, so that what they read from is closed after them. */
export class Streams {
  private readonly running = new Set<Promise<unknown>>()
  private isClosed = false

  /** How many are under way. */
  get count(): number {
    return this.running.size
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.isClosed) throw new StoreError('unreachable', 'the store is closed')
    const running = work()
    this.running.add(running)
    try {
      return await running
    } finally {
      this.running.delete(running)
    }
  }

  /** Begins no more and waits for those under way. */
  async close(): Promise<void> {
    this.isClosed = true
    await Promise.allSettled(this.running)
  }
}
