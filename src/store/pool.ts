import { StoreError } from './store.js'

/** Lends resources one user at a time: made when first wanted, `max` at most, the next user waits for the first back. */
export class Pool<T> {
  private readonly idle: T[] = []
  private readonly waiting: ((resource: T) => void)[] = []
  private made = 0
  private isClosed = false

  constructor(
    private readonly make: () => T,
    private readonly dispose: (resource: T) => unknown,
    private readonly max: number,
  ) {}

  async use<R>(work: (resource: T) => Promise<R>): Promise<R> {
    if (this.isClosed) throw new StoreError('unreachable', 'the store is closed')
    const resource = this.take() ?? (await this.nextBack())
    try {
      return await work(resource)
    } finally {
      const next = this.waiting.shift()
      if (next) next(resource)
      else this.idle.push(resource)
    }
  }

  /** Lends no more, waits for what is lent and for who waited already, and disposes of everything. */
  async close(): Promise<void> {
    this.isClosed = true
    for (; this.made > 0; this.made--) await this.dispose(this.idle.pop() ?? (await this.nextBack()))
  }

  private nextBack(): Promise<T> {
    return new Promise((resolve) => this.waiting.push(resolve))
  }

  private take(): T | undefined {
    const resource = this.idle.pop()
    if (resource || this.made >= this.max) return resource
    const made = this.make()
    this.made++
    return made
  }
}

/** Runs works one after the other, in the order of the calls. */
export class Mutex {
  private last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.last.then(work)
    this.last = result.catch(() => undefined)
    return result
  }

  /** The same for a work that is not begun past its deadline, in milliseconds since 1970; then `late` is thrown at once. */
  runBefore<T>(deadline: number, late: () => Error, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(late()), deadline - Date.now())
      const begin = async () => {
        clearTimeout(timer)
        if (Date.now() >= deadline) throw late()
        resolve(await work())
      }
      this.run(begin).catch(reject)
    })
  }
}
