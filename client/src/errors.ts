import type { ErrorCode, Problem } from './types.js'

interface ErrorFields {
  status: number
  code: ErrorCode | 'unexpected_answer'
  title: string
  detail: string
  errors?: Problem['errors']
  requestId?: string | undefined
  retryAfterSeconds?: number | undefined
}

/** The server answered, and not with what was asked for. Its fields are those of the problem body. */
export class PalmaresError extends Error {
  override readonly name: string = 'PalmaresError'
  /** 0 where a browser hides it, as it does for a redirect. */
  readonly status: number
  /** Stable; test this. `unexpected_answer` is what no server of this API sends, such as a page of a proxy. */
  readonly code: ErrorCode | 'unexpected_answer'
  readonly title: string
  readonly detail: string
  /** What is wrong with each parameter, where the status is 400. */
  readonly errors: readonly { parameter: string; message: string }[]
  /** Give it to the operator when you ask for help. */
  readonly requestId: string | undefined
  /** When to try again, where the server says so. */
  readonly retryAfterSeconds: number | undefined

  constructor(fields: ErrorFields) {
    const request = fields.requestId === undefined ? '' : `, request ${fields.requestId}`
    super(`${fields.detail} (${fields.status} ${fields.code}${request})`)
    this.status = fields.status
    this.code = fields.code
    this.title = fields.title
    this.detail = fields.detail
    this.errors = fields.errors ?? []
    this.requestId = fields.requestId
    this.retryAfterSeconds = fields.retryAfterSeconds
  }
}

/** No whole answer came; `cause` says why. */
export class PalmaresNetworkError extends Error {
  override readonly name: string = 'PalmaresNetworkError'
}

/** No whole answer came in time. */
export class PalmaresTimeoutError extends PalmaresNetworkError {
  override readonly name: string = 'PalmaresTimeoutError'
}

/** The error of an answer that is no success. `what` is the method and the path: a query may hold what is secret. */
export function toError(what: string, status: number, headers: Headers, text: string): PalmaresError {
  const problem = parseProblem(text)
  const seconds = retryAfterSeconds(headers)
  if (!problem) return unexpected(what, status, headers, 'is not a problem of this API', seconds)
  const { code, title, detail, errors, request_id } = problem
  return new PalmaresError({ status, code, title, detail, errors, requestId: request_id, retryAfterSeconds: seconds })
}

/** The error of an answer that no server of this API gives. It tells nothing of the body, which may be anything. */
export function unexpected(
  what: string,
  status: number,
  headers: Headers,
  why: string,
  seconds?: number,
): PalmaresError {
  const type = headers.get('content-type') ?? 'no content type'
  return new PalmaresError({
    status,
    code: 'unexpected_answer',
    title: 'Unexpected answer',
    detail: `${what} was answered with ${status} and ${type}, which ${why}.`,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: seconds,
  })
}

/** The seconds that Retry-After asks for, given as such or as a date; a date is read by the server's own clock where told. */
export function retryAfterSeconds(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim()
  if (!text) return undefined
  if (/^\d+$/.test(text)) return Number(text)
  // `Date.parse` takes much for a date, -5 and 1.5 among it.
  if (!/^[A-Z][a-z]{2}, /.test(text)) return undefined
  const now = Date.parse(headers.get('date') ?? '') || Date.now()
  const seconds = Math.ceil((Date.parse(text) - now) / 1000)
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

function parseProblem(text: string): Problem | undefined {
  try {
    const body = JSON.parse(text)
    return typeof body?.code === 'string' && typeof body.detail === 'string' ? body : undefined
  } catch {
    return undefined
  }
}
