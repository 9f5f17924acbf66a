import type { Budget, Limiter, Limits } from './limits.js'

/** Callers with a count of their own in a window. Further callers share one count, which bounds the memory. */
const MAX_CALLERS = 100_000
const OVERFLOW_KEY = '\0'

/** Counts in the memory of this process. */
export class LocalLimits implements Limits {
  private readonly byName = new Map<string, LocalLimiter>()

  /** Only tests set the clock. */
  constructor(private readonly now: () => number = Date.now) {}

  /** Throws if the name is in use with another quota or window. */
  limiter(name: string, quota: number, windowSeconds: number): LocalLimiter {
    const limiter = this.byName.get(name) ?? new LocalLimiter(quota, windowSeconds, this.now)
    if (limiter.quota !== quota || limiter.windowSeconds !== windowSeconds) {
      throw new Error(`the limiter ${name} counts ${limiter.quota} in ${limiter.windowSeconds} s`)
    }
    this.byName.set(name, limiter)
    return limiter
  }

  async close(): Promise<void> {}
}

/** No timer runs and nothing outlives its window. A caller may spend two quotas around a window's end, never more. */
export class LocalLimiter implements Limiter {
  private counts = new Map<string, number>()
  private window = 0

  constructor(
    readonly quota: number,
    readonly windowSeconds: number,
    private readonly now: () => number = Date.now,
  ) {}

  take(caller: string): Budget {
    const resetSeconds = this.turn()
    const key = this.keyOf(caller)
    const used = this.counts.get(key) ?? 0
    if (used >= this.quota) return { allowed: false, remaining: 0, resetSeconds }
    this.counts.set(key, used + 1)
    return { allowed: true, remaining: this.quota - used - 1, resetSeconds }
  }

  giveBack(caller: string): void {
    this.turn()
    const key = this.keyOf(caller)
    const used = this.counts.get(key)
    if (used !== undefined && used > 0) this.counts.set(key, used - 1)
  }

  private turn(): number {
    const seconds = this.now() / 1000
    const window = Math.floor(seconds / this.windowSeconds)
    if (window !== this.window) {
      this.window = window
      this.counts = new Map()
    }
    return Math.ceil((window + 1) * this.windowSeconds - seconds) || this.windowSeconds
  }

  private keyOf(caller: string): string {
    return this.counts.size < MAX_CALLERS || this.counts.has(caller) ? caller : OVERFLOW_KEY
  }
}
