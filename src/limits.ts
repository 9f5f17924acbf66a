/** What a caller has left after a request was counted. */
export interface Budget {
  allowed: boolean
  remaining: number
  /** Whole seconds until the window ends, at least 1. */
  resetSeconds: number
}

/** Callers counted one by one in a window; those beyond share one count, so that memory has a bound. */
const MAX_CALLERS = 100_000
const OVERFLOW_KEY = '\0'

/**
 * Counts requests for each caller in windows of the clock: every window begins empty, so no timer runs and nothing
 * outlives its window. A caller may so spend two quotas around a window's end, never more.
 */
export class Limiter {
  private counts = new Map<string, number>()
  private window = 0

  constructor(
    readonly quota: number,
    readonly windowSeconds: number,
    private readonly now: () => number = Date.now,
  ) {}

  /** Counts one request; nothing is counted once the quota is used. */
  take(caller: string): Budget {
    const resetSeconds = this.turn()
    const key = this.keyOf(caller)
    const used = this.counts.get(key) ?? 0
    if (used >= this.quota) return { allowed: false, remaining: 0, resetSeconds }
    this.counts.set(key, used + 1)
    return { allowed: true, remaining: this.quota - used - 1, resetSeconds }
  }

  /** Takes back what `take` counted in this window. */
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

/** What an address is counted as: an IPv4 address itself, an IPv6 address by its /64. A client that left has none. */
export function addressKey(address: string | undefined): string {
  if (address === undefined) return ''
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped?.[1]) return mapped[1]
  if (!address.includes(':')) return address
  const [head = '', tail] = (address.split('%')[0] as string).split('::')
  const groups = head === '' ? [] : head.split(':')
  const after = tail ? tail.split(':') : []
  const missing = tail === undefined ? 0 : 8 - groups.length - after.length
  const all = [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...after]
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
