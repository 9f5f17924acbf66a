import { type Page, Palmares, PalmaresError, PalmaresNetworkError } from '@palmares/client'

/** This server, with the session of the browser. A reader waits for no more than a moment: then they are told, and may try again. */
export const portal = new Palmares({ retries: 2, maxWaitMilliseconds: 2_000 })

/** An answer that is none of what was asked for, or no answer. */
export type Failed = PalmaresError | PalmaresNetworkError

/** What was thrown, as what can be shown. What the client does not throw is a defect: the console is told of it too. */
export function asFailed(error: unknown): Failed {
  if (error instanceof PalmaresError || error instanceof PalmaresNetworkError) return error
  reportError(error)
  return new PalmaresNetworkError('The answer could not be read.', { cause: error })
}

/** What happened, for programs; `unreachable` where there was no answer of this server. */
export function codeOf(failed: Failed): string {
  const code = failed instanceof PalmaresError ? failed.code : undefined
  return code === undefined || code === 'unexpected_answer' ? 'unreachable' : code
}

/** 0 where nothing was answered. */
export function statusOf(failed: Failed | undefined): number {
  return failed instanceof PalmaresError ? failed.status : 0
}

/** When to try again, where the server says so; 0 otherwise. */
export function waitSecondsOf(failed: Failed | undefined): number {
  return (failed instanceof PalmaresError && failed.retryAfterSeconds) || 0
}

/** The row that the page at this address of a list starts at. */
export function rowOf(address: string | undefined): number | undefined {
  if (address === undefined) return undefined
  for (const [name, value] of new URL(address, location.origin).searchParams) {
    if (name.startsWith('debut_')) return Number(value)
  }
  return undefined
}

/** The row that a page starts at: its own address says it, or, of a page around an author, what comes after it. */
export function startOf({ address, rows, total, next }: Page<unknown>): number {
  return rowOf(address) ?? Math.max(0, (rowOf(next) ?? total ?? 0) - rows.length)
}
