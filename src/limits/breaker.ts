import type { Log } from '../log.js'
import type { Budget, Limiter } from './limits.js'

const TIMES = {
  tickMilliseconds: 50,
  /** How many ticks a caller waits for an answer at most. */
  patienceTicks: 5,
  /** The time from a failure to the next probe. */
  pauseMilliseconds: 1_000,
}

export type BreakerTimes = typeof TIMES

export interface Server {
  /** Its name for the log, without any secret. */
  name: string
  /** Whose counts it keeps. */
  clients: 'node' | 'worker'
  /** Whether there is a connection that can send commands. */
  isConnected(): boolean
  /** Runs a command that succeeds only if counting works. */
  probe(): Promise<unknown>
  /** Drops the connection and opens another. */
  reconnect(): void
}

/**
 * A circuit breaker for a server that may be down or slow. Callers get an answer or `undefined` quickly. While the server is
 * down only probes contact it, so that no request waits for a timeout.
 */
export class Breaker {
  private state: 'starting' | 'up' | 'down' | 'stopped' = 'starting'
  /** What makes each waiting caller give up, and the tick of its call. Oldest first. */
  private readonly asked = new Map<() => void, number>()
  private ticks = 0
  private ticker: NodeJS.Timeout | undefined
  private nextProbe: NodeJS.Timeout | undefined

  constructor(
    private readonly server: Server,
    private readonly log: Log,
    private readonly times = TIMES,
  ) {}

  /** A limiter that counts at the server, or in `here` while the server is down or has not answered. */
  limiter(here: Limiter, count: (caller: string, step: 1 | -1) => Promise<Budget>): Limiter {
    return {
      take: (caller) => {
        const takeHere = () => here.take(caller)
        return this.state === 'up' ? this.ask(() => count(caller, 1), takeHere) : takeHere()
      },
      giveBack: (caller) => {
        if (this.state === 'up') void this.ask<unknown>(() => count(caller, -1), noAnswer)
        else here.giveBack(caller)
      },
    }
  }

  /** The server's answer; `otherwise` if it refuses or does not answer in time. Never rejects. */
  private ask<T>(send: () => Promise<T>, otherwise: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve) => {
      const giveUp = () => resolve(otherwise())
      this.asked.set(giveUp, this.ticks)
      this.ticker ??= setInterval(() => this.tick(), this.times.tickMilliseconds).unref()
      send().then(
        (answer) => {
          this.asked.delete(giveUp)
          resolve(answer)
        },
        // A failure after the caller gave up belongs to a connection that is already dropped.
        (error) => this.asked.has(giveUp) && this.fail(reasonOf(error)),
      )
    })
  }

  /** Gives up all waiting calls, and probes the server until it is back. */
  fail(reason: string): void {
    for (const giveUp of this.asked.keys()) giveUp()
    this.asked.clear()
    if (this.state === 'stopped') return
    const { name, clients } = this.server
    if (this.state !== 'down')
      this.log.warn(`limits: ${name} is unavailable (${reason}); each ${clients} counts separately`)
    this.state = 'down'
    this.nextProbe ??= setTimeout(() => this.probe(), this.times.pauseMilliseconds).unref()
    this.server.reconnect()
  }

  /** Probes the server for the first state, unless a failure has already set it. */
  async start(): Promise<void> {
    if (this.state === 'starting') await this.probe()
  }

  /** Checks whether the server counts, and logs when it is back. */
  private async probe(): Promise<void> {
    this.nextProbe = undefined
    if (!this.server.isConnected()) return this.fail('not connected')
    const answer = await this.ask(() => this.server.probe(), noAnswer)
    if (answer === undefined || this.state === 'stopped') return
    if (this.state === 'down') this.log.info(`limits: ${this.server.name} is back`)
    this.state = 'up'
  }

  stop(): void {
    this.state = 'stopped'
    this.fail('stopped')
    clearTimeout(this.nextProbe)
    clearInterval(this.ticker)
  }

  /**
   * Measures the wait in ticks of the event loop, not by the clock. After the loop was blocked, answers may still be unread;
   * its own delay must not count as the server's.
   */
  private tick(): void {
    const { patienceTicks, tickMilliseconds } = this.times
    this.ticks++
    const [oldest] = this.asked.values()
    if (oldest === undefined) {
      clearInterval(this.ticker)
      this.ticker = undefined
    } else if (this.ticks - oldest >= patienceTicks) {
      this.fail(`no answer within ${patienceTicks * tickMilliseconds} ms`)
    }
  }
}

function noAnswer(): undefined {
  return undefined
}

/**
 * A system's error code, or the first word of a server's refusal. Never more of a refusal: an old server repeats the command
 * that it does not know, including the password.
 */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (typeof code === 'string') return code
  return /^[A-Z]{3,}\b/.exec(message)?.[0] ?? 'connection lost'
}
