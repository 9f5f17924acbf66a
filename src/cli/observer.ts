import { Problem } from '../errors.js'
import type { Trafic } from '../exploitation/contract.js'

/** A supervisor that takes longer is taken for one that hangs; it waits two seconds itself for a worker that does. */
const ANSWER_TIMEOUT_MILLISECONDS = 3_000

/** Asks the supervisor what all workers have counted; who asks meanwhile waits for the same answer. */
export class Observer {
  private waiting: { resolve(traffic: Trafic): void; promise: Promise<Trafic> } | undefined

  constructor(private readonly ask: () => unknown) {}

  /** Throws `overloaded` where nobody answers. */
  observe(): Promise<Trafic> {
    this.waiting ??= this.begin()
    return this.waiting.promise
  }

  heard(traffic: Trafic): void {
    this.waiting?.resolve(traffic)
    this.waiting = undefined
  }

  private begin() {
    let resolve: (traffic: Trafic) => void = () => undefined
    const promise = new Promise<Trafic>((answered, failed) => {
      const timer = setTimeout(() => {
        this.waiting = undefined
        failed(new Problem('overloaded'))
      }, ANSWER_TIMEOUT_MILLISECONDS)
      resolve = (traffic) => {
        clearTimeout(timer)
        answered(traffic)
      }
    })
    this.ask()
    return { resolve, promise }
  }
}
