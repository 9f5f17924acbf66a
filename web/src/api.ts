import { type Page, Palmares, PalmaresError, PalmaresNetworkError } from '@palmares/client'

/** This server, with the session cookie of the browser. Automatic retries are short: the reader sees an error and can retry. */
export const portal = new Palmares({ retries: 2, maxWaitMilliseconds: 2_000 })

/** An error response, or no response. */
export type Failed = PalmaresError | PalmaresNetworkError

/** Converts a thrown value to an error that the page can show. Anything the client does not throw is a bug, so it is also reported to the console. */
export function asFailed(error: unknown): Failed {
  if (error instanceof PalmaresError || error instanceof PalmaresNetworkError) return error
  reportError(error)
  return new PalmaresNetworkError('The answer could not be read.', { cause: error })
}

/** The error code; `unreachable` without an answer from this server. */
export function codeOf(failed: Failed): string {
  const code = failed instanceof PalmaresError ? failed.code : undefined
  return code === undefined || code === 'unexpected_answer' ? 'unreachable' : code
}

/** The HTTP status; 0 without an answer. */
export function statusOf(failed: Failed | undefined): number {
  return failed instanceof PalmaresError ? failed.status : 0
}

/** The delay that the server asks for before a retry; 0 if it asks for none. */
export function waitSecondsOf(failed: Failed | undefined): number {
  return (failed instanceof PalmaresError && failed.retryAfterSeconds) || 0
}

/** The first row of the list page at this URL. */
export function rowOf(address: string | undefined): number | undefined {
  if (address === undefined) return undefined
  for (const [name, value] of new URL(address, location.origin).searchParams) {
    if (name.startsWith('debut_')) return Number(value)
  }
  return undefined
}

/** The first row of a page, from its URL. The URL of a page around a player has no row: the next page or the total gives it. */
export function startOf({ address, rows, total, next }: Page<unknown>): number {
  return rowOf(address) ?? Math.max(0, (rowOf(next) ?? total ?? 0) - rows.length)
}
