import type { FastifyBaseLogger } from 'fastify'

export type LimitsLog = Pick<FastifyBaseLogger, 'info' | 'warn'>

export interface BreakerTimes {
  tickMilliseconds: number
  /** Nobody waits longer for an answer than so many ticks. */
  patienceTicks: number
  /** After a failure nothing is asked for so long. */
  pauseMilliseconds: number
}

const TIMES: BreakerTimes = { tickMilliseconds: 50, patienceTicks: 5, pauseMilliseconds: 1_000 }

export interface Server {
  /** Its name for the log, without any secret. */
  name: string
  /** Whether there is a connection that a command may be written to. */
  isConnected(): boolean
  /** Asks for something that succeeds only where counting does. */
  probe(): Promise<unknown>
  /** Drops the connection and makes another. */
  reconnect(): void
}

/**
 * Stands between requests and a server that may be away or slow: whoever asks has an answer soon, or is told that there
 * is none. Once away, the server is asked by probes alone, so that no request waits to learn that it still is.
 */
export class Breaker {
  private state: 'starting' | 'up' | 'away' | 'stopped' = 'starting'
  private readonly asked = new Set<Asked>()
  private ticks = 0
  private ticker: NodeJS.Timeout | undefined
  private nextProbe: NodeJS.Timeout | undefined

  constructor(
    private readonly server: Server,
    private readonly log: LimitsLog,
    /** Only tests set it. */
    private readonly times = TIMES,
  ) {}

  get isUp(): boolean {
    return this.state === 'up'
  }

  /** What the server answers; undefined where it does not in time, or refuses. Never rejects. */
  ask<T>(send: () => Promise<T>): Promise<T | undefined> {
    return new Promise((resolve) => {
      const asked: Asked = { tick: this.ticks, giveUp: () => resolve(undefined) }
      this.asked.add(asked)
      this.ticker ??= setInterval(() => this.tick(), this.times.tickMilliseconds).unref()
      send().then(
        (answer) => {
          this.asked.delete(asked)
          resolve(answer)
        },
        // What fails after it was given up belongs to a connection that is dropped already.
        (error) => this.asked.has(asked) && this.fail(reasonOf(error)),
      )
    })
  }

  /** Whoever waits is answered at once; the server is probed until it is back. */
  fail(reason: string): void {
    for (const { giveUp } of this.asked) giveUp()
    this.asked.clear()
    if (this.state === 'stopped') return
    if (this.state !== 'away') this.log.warn(`limits: ${this.server.name} is away (${reason}); counting without it`)
    this.state = 'away'
    this.nextProbe ??= setTimeout(() => this.probe(), this.times.pauseMilliseconds).unref()
    this.server.reconnect()
  }

  /** Finds out how it begins, unless a failure has said so already. */
  async start(): Promise<void> {
    if (this.state === 'starting') await this.probe()
  }

  /** Asks whether the server counts, and says so where it does again. */
  private async probe(): Promise<void> {
    this.nextProbe = undefined
    if (!this.server.isConnected()) return this.fail('not connected')
    const answer = await this.ask(() => this.server.probe())
    if (answer === undefined || this.state === 'stopped') return
    if (this.state === 'away') this.log.info(`limits: ${this.server.name} is back`)
    this.state = 'up'
  }

  stop(): void {
    this.state = 'stopped'
    this.fail('stopped')
    clearTimeout(this.nextProbe)
    clearInterval(this.ticker)
  }

  /**
   * Counts patience in ticks of the event loop, not by the clock: a loop that was held up must not take its own delay
   * for the server's, with the answers still unread.
   */
  private tick(): void {
    const { patienceTicks, tickMilliseconds } = this.times
    this.ticks++
    const [oldest] = this.asked
    if (!oldest) {
      clearInterval(this.ticker)
      this.ticker = undefined
    } else if (this.ticks - oldest.tick >= patienceTicks) {
      this.fail(`no answer within ${patienceTicks * tickMilliseconds} ms`)
    }
  }
}

interface Asked {
  /** When it was asked. */
  tick: number
  giveUp(): void
}

/**
 * A system's code, or the word that a server's refusal begins with. Never more of a refusal: an old server repeats the
 * command that it does not know, password included.
 */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (typeof code === 'string') return code
  return /^[A-Z]{3,}\b/.exec(message)?.[0] ?? 'connection lost'
}
