/**
 * The catalogue of problems that clients receive: `code` is stable, `status` and `title` follow from
 * it, `detail` may be made more precise where it is thrown. docs/API.md lists them; a test compares.
 */
export const catalogue = {
  malformed_request: entry(400, 'Bad request', 'The request is not well-formed HTTP.'),
  invalid_parameter: entry(400, 'Invalid parameter', 'A parameter is not valid.'),
  invalid_body: entry(400, 'Invalid body', 'The body is not valid for this operation.'),
  too_many_keys: entry(400, 'Too many keys', 'An account has at most 20 valid keys; revoke one first.'),
  credential_missing: entry(
    401,
    'Credential missing',
    'Send the cookie service_session, the cookie api_key, or Authorization: Bearer with an API key.',
  ),
  credential_invalid: entry(401, 'Credential invalid', 'No account has this credential.'),
  credential_expired: entry(401, 'Credential expired', 'This credential has expired; create a new one.'),
  credential_revoked: entry(401, 'Credential revoked', 'This credential was revoked; create a new one.'),
  login_refused: entry(401, 'Login refused', 'The login or the password is wrong.'),
  foreign_origin: entry(403, 'Foreign origin', 'A page of another origin may not do this.'),
  session_required: entry(403, 'Session required', 'Sign in with /login; an API key cannot do this.'),
  scope_required: entry(403, 'Scope required', 'This credential does not have the scope that this takes.'),
  operator_required: entry(403, 'Operator required', 'Only an account that is marked operator may do this.'),
  path_not_found: entry(404, 'No such path', 'Nothing is served at this path; /openapi.json lists what is.'),
  resource_not_found: entry(404, 'No such resource', 'The portal has nothing with this id.'),
  method_not_allowed: entry(405, 'Method not allowed', 'This path does not take this method; see Allow.'),
  request_timeout: entry(408, 'Request time-out', 'The request took too long to arrive.'),
  body_too_large: entry(413, 'Body too large', 'The body is larger than this path takes.'),
  uri_too_long: entry(414, 'Address too long', 'The request line is longer than 8 KiB.'),
  unsupported_media_type: entry(
    415,
    'Unsupported media type',
    'This path takes another Content-Type, in UTF-8 and without a Content-Encoding; see /openapi.json.',
  ),
  rate_limited: entry(429, 'Too many requests', 'This account has used its requests; wait for Retry-After.'),
  address_limited: entry(
    429,
    'Too many requests',
    'This address has used its requests without a valid credential; wait for Retry-After.',
  ),
  login_throttled: entry(429, 'Too many failed logins', 'Too many logins failed; wait for Retry-After.'),
  http_1_1_required: entry(426, 'HTTP/1.1 required', 'This answer is streamed; use HTTP/1.1.'),
  headers_too_large: entry(
    431,
    'Headers too large',
    'The address and the headers are larger together than this server takes.',
  ),
  internal_error: entry(500, 'Internal error', 'Something failed on our side; the log has it under this request_id.'),
  transfer_coding_unsupported: entry(
    501,
    'Transfer coding not supported',
    'Only Transfer-Encoding: chunked is supported.',
  ),
  store_unavailable: entry(503, 'Store unavailable', 'The store cannot answer now; retry after Retry-After.'),
  search_too_broad: entry(
    503,
    'Search too broad',
    'This search took too long. Use narrower filters, or retry after Retry-After.',
  ),
  overloaded: entry(503, 'Overloaded', 'The server is overloaded; retry after Retry-After.'),
  http_version_unsupported: entry(
    505,
    'HTTP version not supported',
    'This server speaks HTTP/1.1 and HTTP/1.0; put a proxy before it for later versions.',
  ),
}

function entry(status: number, title: string, detail: string) {
  return { status, title, detail }
}

export type ErrorCode = keyof typeof catalogue

export interface FieldError {
  parameter: string
  message: string
}

export interface ProblemOptions {
  detail?: string
  errors?: FieldError[]
  /** Sent as Retry-After, whole seconds. */
  retryAfterSeconds?: number
  /** Sent as Allow. */
  allow?: string
  cause?: unknown
}

/** A row that a query found. Throws `resource_not_found` where there is none. */
export function found<R>(row: R | undefined, what: string): R {
  if (row === undefined) throw new Problem('resource_not_found', { detail: `The portal has no ${what} with this id.` })
  return row
}

/** What code anywhere throws to answer a client with an entry of the catalogue. */
export class Problem extends Error {
  readonly status: number
  readonly detail: string
  readonly errors: FieldError[]
  readonly retryAfterSeconds: number | undefined
  readonly allow: string | undefined

  constructor(
    readonly code: ErrorCode,
    options: ProblemOptions = {},
  ) {
    const entry = catalogue[code]
    // What a client did wrong has no place in our code worth the cost of a stack.
    const { stackTraceLimit } = Error
    if (!isFault(entry.status)) Error.stackTraceLimit = 0
    super(options.detail ?? entry.detail, options.cause === undefined ? undefined : { cause: options.cause })
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'Problem'
    this.status = entry.status
    this.detail = this.message
    this.errors = options.errors ?? []
    this.retryAfterSeconds = options.retryAfterSeconds ?? (entry.status === 503 ? 1 : undefined)
    this.allow = options.allow
  }

  /** The body of RFC 9457, its keys in the order of the contract. */
  toBody(requestId: string) {
    return {
      type: `urn:palmares:problem:${this.code}`,
      title: catalogue[this.code].title,
      status: this.status,
      detail: this.detail,
      code: this.code,
      request_id: requestId,
      ...(this.status === 400 ? { errors: this.errors } : {}),
    }
  }
}

/** Whether a status says that the server failed: 501 and 505 refuse what a client sent, as a 4xx does. */
export function isFault(status: number): boolean {
  return status === 500 || status === 503
}

/** A 400 for a body that does not match its Content-Type. */
export function invalidBody(message: string): Problem {
  return faultOf('invalid_body', 'body', message, 'The body')
}

/** A 400 that names one parameter and says what it takes. */
export function invalidParameter(parameter: string, message: string): Problem {
  return faultOf('invalid_parameter', parameter, message)
}

/** A 400 that names one part of a request; `subject` is what its detail calls that part. */
export function faultOf(code: ErrorCode, parameter: string, message: string, subject = parameter): Problem {
  return new Problem(code, { detail: `${subject} ${message}.`, errors: [{ parameter, message }] })
}
