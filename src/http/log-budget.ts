const WINDOW_MILLISECONDS = 60_000
/** Kinds counted one by one in a window; those beyond share one count, so that memory has a bound. */
const MAX_KINDS = 200
const OTHER_KINDS = 'other'

/**
 * Bounds how many lines of each kind are logged in a minute, because clients decide how often they are refused. Lines
 * beyond are counted, and reported in one line when the minute ends.
 */
export class LogBudget {
  private kinds = new Map<string, { logged: number; suppressed: number }>()
  private timer: NodeJS.Timeout | undefined

  constructor(
    private readonly linesPerMinute: number,
    /** Takes how many lines of each kind were suppressed in a window. */
    private readonly report: (suppressed: Record<string, number>) => void,
  ) {}

  /** Whether a line of this kind may be logged now. A line that may not is counted. */
  take(kind: string): boolean {
    this.timer ??= setTimeout(() => this.close(), WINDOW_MILLISECONDS).unref()
    const count = this.countOf(kind)
    if (count.logged < this.linesPerMinute) {
      count.logged++
      return true
    }
    count.suppressed++
    return false
  }

  /** Ends the window, and reports what was not logged in it. */
  close(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    const suppressed = [...this.kinds].filter(([, count]) => count.suppressed > 0)
    this.kinds = new Map()
    if (suppressed.length > 0)
      this.report(Object.fromEntries(suppressed.map(([kind, count]) => [kind, count.suppressed])))
  }

  private countOf(kind: string): { logged: number; suppressed: number } {
    const key = this.kinds.has(kind) || this.kinds.size < MAX_KINDS ? kind : OTHER_KINDS
    const known = this.kinds.get(key)
    if (known) return known
    const count = { logged: 0, suppressed: 0 }
    this.kinds.set(key, count)
    return count
  }
}
