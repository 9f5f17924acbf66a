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

/** An error response of the server. Its properties are the fields of the problem body. */
export class PalmaresError extends Error {
  override readonly name: string = 'PalmaresError'
  /** 0 if the browser hides it, as for a redirect. */
  readonly status: number
  /** Stable, so check this. `unexpected_answer` means that the response is not from this API, such as an error page of a proxy. */
  readonly code: ErrorCode | 'unexpected_answer'
  readonly title: string
  readonly detail: string
  /** The invalid parameters, if the status is 400. */
  readonly errors: readonly { parameter: string; message: string }[]
  /** Give it to the operator when you ask for help. */
  readonly requestId: string | undefined
  /** The value of Retry-After, if the server sent it. */
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

/** There was no complete response; `cause` says why. */
export class PalmaresNetworkError extends Error {
  override readonly name: string = 'PalmaresNetworkError'
}

/** There was no complete response in time. */
export class PalmaresTimeoutError extends PalmaresNetworkError {
  override readonly name: string = 'PalmaresTimeoutError'
}

/** Converts an error response. `what` is the method and the path, without the query, which may contain secrets. */
export function toError(what: string, status: number, headers: Headers, text: string): PalmaresError {
  const problem = parseProblem(text)
  const seconds = retryAfterSeconds(headers)
  if (!problem) return unexpected(what, status, headers, 'is not a problem of this API', seconds)
  const { code, title, detail, errors, request_id } = problem
  return new PalmaresError({ status, code, title, detail, errors, requestId: request_id, retryAfterSeconds: seconds })
}

/** The error for a response that is not from this API. It does not show the body, which may be anything. */
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

/** Retry-After in seconds. A date is compared with the server's own clock if the response has `Date`. */
export function retryAfterSeconds(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim()
  if (!text) return undefined
  if (/^\d+$/.test(text)) return Number(text)
  // `Date.parse` also accepts values such as -5 and 1.5.
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
