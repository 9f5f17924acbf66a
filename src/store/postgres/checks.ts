import type { Versions } from '../store.js'

/**
 * Questions that many ask at once: whoever asks while one is under way shares the next, as the one under way may have been
 * answered before what the asker must see.
 */
export class Checks {
  private running: Promise<Versions> | undefined
  private waiting: Promise<Versions> | undefined

  constructor(private readonly ask: () => Promise<Versions>) {}

  next(): Promise<Versions> {
    if (!this.running) return this.run()
    this.waiting ??= this.running.then(
      () => this.run(),
      () => this.run(),
    )
    return this.waiting
  }

  private run(): Promise<Versions> {
    this.waiting = undefined
    const running = this.ask()
    this.running = running
    const end = () => {
      if (this.running === running) this.running = undefined
    }
    running.then(end, end)
    return running
  }
}
