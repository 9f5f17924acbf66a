/** What a semaphore bounds, and what it throws. */
export interface SemaphoreOptions {
  /** How much may be taken at once. */
  permits: number
  /** How many callers may wait; as many as come where it is not given. */
  maxQueued?: number
  /** Thrown where no permit is free and the queue is full. */
  full?(): Error
  /** Thrown after `close`. */
  closed?(): Error
}

/** When a caller stops waiting, in milliseconds since 1970, and what is thrown then. */
export interface Deadline {
  at: number
  late(): Error
}

/** Bounds how much happens at once. Callers without a permit wait in the order of their calls. */
export class Semaphore {
  private taken = 0
  private readonly queue = new Set<() => void>()
  private closing: Promise<void> | undefined
  private drained: () => void = () => undefined

  constructor(private readonly options: SemaphoreOptions) {}

  /** How many permits are taken, and how many callers wait. */
  get count(): number {
    return this.taken + this.queue.size
  }

  /** Takes permits without waiting. Returns a function that gives them back, which may be called twice. */
  take(permits = 1): () => void {
    if (this.closing) throw this.options.closed?.() ?? new Error('closed')
    if (this.taken + permits > this.options.permits) throw this.fullError()
    this.taken += permits
    return this.releaseOf(permits)
  }

  /** Takes one permit, at once where one is free. No turn comes after the deadline. */
  enter(deadline?: Deadline): (() => void) | Promise<() => void> {
    if (this.closing || this.taken < this.options.permits) return this.take()
    const { maxQueued = Number.POSITIVE_INFINITY } = this.options
    if (this.queue.size >= maxQueued) throw this.fullError()
    return this.turn(deadline)
  }

  /** Runs a work with one permit. */
  async run<T>(work: () => Promise<T>, deadline?: Deadline): Promise<T> {
    const release = await this.enter(deadline)
    try {
      return await work()
    } finally {
      release()
    }
  }

  /** Takes no new callers. Resolves when all who hold a permit or wait for one are done. */
  close(): Promise<void> {
    this.closing ??= new Promise((resolve) => {
      this.drained = resolve
      if (this.count === 0) resolve()
    })
    return this.closing
  }

  /** Waits for a permit that somebody gives back. */
  private turn(deadline: Deadline | undefined): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.queue.delete(begin)
        reject(deadline?.late())
      }
      const begin = () => {
        clearTimeout(timer)
        this.queue.delete(begin)
        if (deadline && Date.now() >= deadline.at) return giveUp()
        this.taken++
        resolve(this.releaseOf(1))
      }
      const timer = deadline && setTimeout(giveUp, deadline.at - Date.now())
      this.queue.add(begin)
    })
  }

  private releaseOf(permits: number): () => void {
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.taken -= permits
      for (const begin of this.queue) {
        if (this.taken >= this.options.permits) break
        begin()
      }
      if (this.count === 0) this.drained()
    }
  }

  private fullError(): Error {
    return this.options.full?.() ?? new Error('full')
  }
}
