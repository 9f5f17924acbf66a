/** What a caller has left after a request was counted. */
export interface Budget {
  allowed: boolean
  remaining: number
  /** Whole seconds until the window ends, at least 1. */
  resetSeconds: number
}

/** Counts the requests of each caller in windows of the clock: every window begins empty. */
export interface Limiter {
  /** Counts one request; nothing is counted once the quota is used. Never rejects. */
  take(caller: string): Budget | Promise<Budget>
  /** Reverses one `take` of this window. */
  giveBack(caller: string): void
}

/** Where counts are kept: in this process, in the supervisor of its workers, or in a server that nodes share. */
export interface Limits {
  /** The one limiter of a name. All who share it must give the same quota and window. */
  limiter(name: string, quota: number, windowSeconds: number): Limiter
  close(): Promise<void>
}
