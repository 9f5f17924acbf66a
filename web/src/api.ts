import { Palmares, PalmaresError, PalmaresNetworkError } from '@palmares/client'

/** This server, with the session of the browser. A reader waits for no more than a moment: then they are told, and may try again. */
export const portal = new Palmares({ retries: 2, maxWaitMilliseconds: 2_000 })

/** An answer that is none of what was asked for, or no answer. */
export type Failed = PalmaresError | PalmaresNetworkError

export function isFailed(error: unknown): error is Failed {
  return error instanceof PalmaresError || error instanceof PalmaresNetworkError
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
