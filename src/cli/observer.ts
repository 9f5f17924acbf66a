import type { Trafic } from '../contract.js'
import { Problem } from '../errors.js'

/** A supervisor that takes longer is taken for one that hangs; it waits two seconds itself for a worker that does. */
const ANSWER_TIMEOUT_MILLISECONDS = 3_000

interface Question {
  resolve(traffic: Trafic): void
  answer: Promise<Trafic>
}

/** Asks the supervisor what all workers have counted; who asks meanwhile waits for the same answer. */
export class Observer {
  private readonly asked = new Map<number, Question>()
  private questions = 0

  /** Says a question to the supervisor, under a number that its answer bears. */
  constructor(private readonly ask: (question: number) => unknown) {}

  /** Throws `overloaded` where nobody answers. */
  observe(): Promise<Trafic> {
    const under = this.asked.get(this.questions)
    return (under ?? this.begin(++this.questions)).answer
  }

  /** An answer that comes too late is to a question that nobody asks any more. */
  heard(question: number, traffic: Trafic): void {
    this.asked.get(question)?.resolve(traffic)
    this.asked.delete(question)
  }

  private begin(number: number): Question {
    let resolve: (traffic: Trafic) => void = () => undefined
    const answer = new Promise<Trafic>((answered, failed) => {
      const timer = setTimeout(() => {
        this.asked.delete(number)
        failed(new Problem('overloaded'))
      }, ANSWER_TIMEOUT_MILLISECONDS)
      resolve = (traffic) => {
        clearTimeout(timer)
        answered(traffic)
      }
    })
    const question = { resolve, answer }
    this.asked.set(number, question)
    this.ask(number)
    return question
  }
}
