import type { Budget, Limiter, Limits } from './limits.js'
import { LocalLimits } from './local.js'

/** A supervisor that takes longer is assumed to hang. */
const ANSWER_TIMEOUT_MILLISECONDS = 1_000

/** The limiter's name, quota and window, and the caller; whether it is a charge or a refund. */
type Call = readonly [name: string, quota: number, windowSeconds: number, caller: string, isTake: boolean]

/** What a worker asks its supervisor to count, in order. */
export interface LimitsQuestion {
  kind: 'limits'
  batch: number
  calls: Call[]
}

/** A budget for each charge of a question, in their order. */
export interface LimitsAnswer {
  kind: 'budgets'
  batch: number
  budgets: Budget[]
}

/** The supervisor's part: counts for all workers as for one process. */
export function answer(limits: LocalLimits, { batch, calls }: LimitsQuestion): LimitsAnswer {
  const budgets: Budget[] = []
  for (const [name, quota, windowSeconds, caller, isTake] of calls) {
    const limiter = limits.limiter(name, quota, windowSeconds)
    if (isTake) budgets.push(limiter.take(caller))
    else limiter.giveBack(caller)
  }
  return { kind: 'budgets', batch, budgets }
}

/** A charge that waits for its budget. */
interface Charge {
  resolve(budget: Budget): void
  /** Counts in this process, if the supervisor does not answer. */
  takeHere(): Budget
}

interface Batch {
  charges: Charge[]
  timer: NodeJS.Timeout
}

/** The supervisor counts. All calls of one turn of the event loop are one message, and so are their budgets. */
export class WorkerLimits implements Limits {
  private readonly here = new LocalLimits()
  private readonly sent = new Map<number, Batch>()
  private calls: Call[] = []
  private charges: Charge[] = []
  private batches = 0
  /** Set after a question without an answer, until the next answer: nobody waits for a supervisor that hangs. */
  private isSilent = false

  constructor(
    private readonly ask: (question: LimitsQuestion) => unknown,
    private readonly log: { warn(text: string): void },
  ) {}

  limiter(name: string, quota: number, windowSeconds: number): Limiter {
    const here = this.here.limiter(name, quota, windowSeconds)
    const call = (caller: string, isTake: boolean): Call => [name, quota, windowSeconds, caller, isTake]
    return {
      quota,
      windowSeconds,
      take: (caller) => {
        if (this.isAlone()) return here.take(caller)
        return new Promise((resolve) => {
          this.charges.push({ resolve, takeHere: () => here.take(caller) })
          this.add(call(caller, true))
        })
      },
      giveBack: (caller) => {
        if (this.isAlone()) here.giveBack(caller)
        else this.add(call(caller, false))
      },
    }
  }

  /** Takes an answer of the supervisor. A late one only shows that it is back. */
  heard({ batch, budgets }: LimitsAnswer): void {
    this.isSilent = false
    const answered = this.sent.get(batch)
    if (!answered) return
    this.sent.delete(batch)
    clearTimeout(answered.timer)
    for (const [i, { resolve, takeHere }] of answered.charges.entries()) resolve(budgets[i] ?? takeHere())
  }

  async close(): Promise<void> {
    for (const batch of this.sent.keys()) this.giveUp(batch)
    await this.here.close()
  }

  private isAlone(): boolean {
    return this.isSilent || !process.connected
  }

  private add(call: Call): void {
    this.calls.push(call)
    if (this.calls.length === 1) setImmediate(() => this.flush())
  }

  private flush(): void {
    const batch = this.batches++
    const { calls, charges } = this
    this.calls = []
    this.charges = []
    // After a blocked event loop, waiting answers are read before the decision.
    const timer = setTimeout(() => setImmediate(() => this.miss(batch)), ANSWER_TIMEOUT_MILLISECONDS)
    this.sent.set(batch, { charges, timer })
    this.ask({ kind: 'limits', batch, calls })
  }

  private miss(batch: number): void {
    if (!this.sent.has(batch)) return
    if (!this.isSilent) this.log.warn('no answer from the supervisor; this process counts limits separately')
    this.isSilent = true
    this.giveUp(batch)
  }

  private giveUp(batch: number): void {
    const given = this.sent.get(batch)
    if (!given) return
    this.sent.delete(batch)
    clearTimeout(given.timer)
    for (const { resolve, takeHere } of given.charges) resolve(takeHere())
  }
}
