import type { Trafic } from '../contract.js'
import { Problem } from '../errors.js'
import { SharedRun } from '../shared-run.js'

/** A supervisor that takes longer is taken for one that hangs; it waits two seconds itself for a worker that does. */
const ANSWER_TIMEOUT_MILLISECONDS = 3_000

/** Asks the supervisor what all workers have counted; who asks meanwhile waits for the same answer. */
export class Observer {
  private readonly asked = new Map<number, (traffic: Trafic) => void>()
  private readonly asking = new SharedRun(() => this.begin(++this.questions))
  private questions = 0

  /** Says a question to the supervisor, under a number that its answer bears. */
  constructor(private readonly ask: (question: number) => unknown) {}

  /** Throws `overloaded` where nobody answers. */
  observe(): Promise<Trafic> {
    return this.asking.current()
  }

  /** An answer that comes too late is to a question that nobody asks any more. */
  heard(question: number, traffic: Trafic): void {
    this.asked.get(question)?.(traffic)
    this.asked.delete(question)
  }

  private begin(number: number): Promise<Trafic> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.asked.delete(number)
        reject(new Problem('overloaded'))
      }, ANSWER_TIMEOUT_MILLISECONDS)
      this.asked.set(number, (traffic) => {
        clearTimeout(timer)
        resolve(traffic)
      })
      this.ask(number)
    })
  }
}
