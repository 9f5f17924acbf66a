import type { Log } from '../log.js'
import { Breaker } from './breaker.js'
import type { Budget, Limiter, Limits } from './limits.js'
import { LocalLimits } from './local.js'

/** A supervisor that takes longer than a second is assumed to hang. */
const TIMES = { tickMilliseconds: 50, patienceTicks: 20, pauseMilliseconds: 1_000 }

/** The limiter's name, quota and window, and the caller; 1 for a charge, -1 for a refund. */
type Call = readonly [name: string, quota: number, windowSeconds: number, caller: string, step: 1 | -1]

/** What a worker asks its supervisor to count, in order. */
export interface LimitsQuestion {
  kind: 'limits'
  batch: number
  calls: Call[]
}

/** What each call of a question left, in their order; a refund leaves nothing. */
export interface LimitsAnswer {
  kind: 'budgets'
  batch: number
  budgets: (Budget | null)[]
}

/** The supervisor's part: counts for all workers as for one process. */
export function answer(limits: LocalLimits, { batch, calls }: LimitsQuestion): LimitsAnswer {
  const budgets = calls.map(([name, quota, windowSeconds, caller, step]) => {
    const limiter = limits.limiter(name, quota, windowSeconds)
    if (step === 1) return limiter.take(caller)
    limiter.giveBack(caller)
    return null
  })
  return { kind: 'budgets', batch, budgets }
}

type Resolve = (budget: Budget) => void

/** The supervisor counts. All calls of one turn of the event loop are one message, and so are their budgets. */
export class WorkerLimits implements Limits {
  private readonly here = new LocalLimits()
  private readonly breaker: Breaker
  private readonly sent = new Map<number, Resolve[]>()
  private calls: Call[] = []
  private resolves: Resolve[] = []
  private batches = 0

  constructor(
    private readonly ask: (question: LimitsQuestion) => unknown,
    log: Log,
  ) {
    const probe = () => this.count(['sonde', 1_000_000_000, 1, '', 1])
    const isConnected = () => process.connected
    const server = {
      name: 'the supervisor',
      clients: 'worker',
      isConnected,
      probe,
      reconnect: () => undefined,
    } as const
    this.breaker = new Breaker(server, log, TIMES)
  }

  /** Until it resolves, this process counts by itself. */
  start(): Promise<void> {
    return this.breaker.start()
  }

  limiter(name: string, quota: number, windowSeconds: number): Limiter {
    const here = this.here.limiter(name, quota, windowSeconds)
    return this.breaker.limiter(here, (caller, step) => this.count([name, quota, windowSeconds, caller, step]))
  }

  /** Takes an answer of the supervisor. */
  heard({ batch, budgets }: LimitsAnswer): void {
    for (const [i, resolve] of this.sent.get(batch)?.entries() ?? []) resolve(budgets[i] as Budget)
    this.sent.delete(batch)
  }

  async close(): Promise<void> {
    this.breaker.stop()
  }

  private count(call: Call): Promise<Budget> {
    if (!process.connected) return Promise.reject(new Error('disconnected'))
    if (this.calls.push(call) === 1) setImmediate(() => this.flush())
    return new Promise((resolve) => this.resolves.push(resolve))
  }

  private flush(): void {
    const { calls, resolves } = this
    this.calls = []
    this.resolves = []
    this.sent.set(++this.batches, resolves)
    this.ask({ kind: 'limits', batch: this.batches, calls })
  }
}
