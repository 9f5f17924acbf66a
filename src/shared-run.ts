/** A task that many ask for at once: callers share a run instead of starting one each. */
export class SharedRun<T> {
  private running: Promise<T> | undefined
  private queued: Promise<T> | undefined

  constructor(private readonly task: () => Promise<T>) {}

  /** The run in flight, which may have begun before this call; a new one where there is none. */
  current(): Promise<T> {
    return this.running ?? this.run()
  }

  /** A run that begins after this call. */
  next(): Promise<T> {
    if (!this.running) return this.run()
    const start = () => this.run()
    this.queued ??= this.running.then(start, start)
    return this.queued
  }

  private run(): Promise<T> {
    this.queued = undefined
    const running = this.task()
    this.running = running
    const end = () => {
      if (this.running === running) this.running = undefined
    }
    running.then(end, end)
    return running
  }
}
