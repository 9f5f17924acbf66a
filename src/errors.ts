/**
 * The catalogue of everything that a client can be told is wrong: `code` is stable, `status` and `title` follow from
 * it, `detail` may be made more precise where it is thrown. docs/API.md lists them; a test compares.
 */
export const catalogue = {
  malformed_request: { status: 400, title: 'Bad request', detail: 'The request is not well-formed HTTP.' },
  invalid_parameter: {
    status: 400,
    title: 'Invalid parameter',
    detail: 'A parameter is not of the form that it takes.',
  },
  invalid_body: { status: 400, title: 'Invalid body', detail: 'The body is not what this operation takes.' },
  too_many_keys: {
    status: 400,
    title: 'Too many keys',
    detail: 'An account holds at most 20 live keys; revoke one first.',
  },
  credential_missing: {
    status: 401,
    title: 'Credential missing',
    detail: 'Send the cookie service_session, the cookie api_key, or Authorization: Bearer with an API key.',
  },
  credential_invalid: { status: 401, title: 'Credential invalid', detail: 'No account has this credential.' },
  credential_expired: {
    status: 401,
    title: 'Credential expired',
    detail: 'This credential has expired; make a new one.',
  },
  credential_revoked: {
    status: 401,
    title: 'Credential revoked',
    detail: 'This credential was ended; make a new one.',
  },
  login_refused: { status: 401, title: 'Login refused', detail: 'The login or the password is wrong.' },
  foreign_origin: { status: 403, title: 'Foreign origin', detail: 'A page of another origin may not do this.' },
  session_required: {
    status: 403,
    title: 'Session required',
    detail: 'Sign in with /login; an API key cannot do this.',
  },
  scope_required: {
    status: 403,
    title: 'Scope required',
    detail: 'This credential does not have the scope that this takes.',
  },
  operator_required: {
    status: 403,
    title: 'Operator required',
    detail: 'Only an account that is marked operator may do this.',
  },
  path_not_found: {
    status: 404,
    title: 'No such path',
    detail: 'Nothing is served at this path; /openapi.json lists what is.',
  },
  resource_not_found: { status: 404, title: 'No such resource', detail: 'The portal has nothing with this id.' },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    detail: 'This path does not take this method; see Allow.',
  },
  request_timeout: { status: 408, title: 'Request time-out', detail: 'The request took too long to arrive.' },
  body_too_large: { status: 413, title: 'Body too large', detail: 'The body is larger than this path takes.' },
  uri_too_long: { status: 414, title: 'Address too long', detail: 'The request line is longer than 8 KiB.' },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    detail: 'This path takes another Content-Type, in UTF-8 and without a Content-Encoding; see /openapi.json.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    detail: 'This account has used its requests; wait for Retry-After.',
  },
  address_limited: {
    status: 429,
    title: 'Too many requests',
    detail: 'This address has used its requests without a valid credential; wait for Retry-After.',
  },
  login_throttled: {
    status: 429,
    title: 'Too many failed logins',
    detail: 'Too many logins failed; wait for Retry-After.',
  },
  http_1_1_required: {
    status: 426,
    title: 'HTTP/1.1 required',
    detail:
      'This answer is larger than is made in memory: ask for it with HTTP/1.1, whose answers have an end that can be told.',
  },
  headers_too_large: {
    status: 431,
    title: 'Headers too large',
    detail: 'The address and the headers are larger together than this server takes.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    detail: 'Something failed on our side; the log has it under this request_id.',
  },
  transfer_coding_unsupported: {
    status: 501,
    title: 'Transfer coding not supported',
    detail: 'Transfer-Encoding takes chunked alone; send the body as it is.',
  },
  store_unavailable: {
    status: 503,
    title: 'Store unavailable',
    detail: 'The store cannot answer now; try again after Retry-After.',
  },
  search_too_broad: {
    status: 503,
    title: 'Search too broad',
    detail:
      'This search takes longer than the server gives it; ask for something narrower, or try again after Retry-After.',
  },
  overloaded: {
    status: 503,
    title: 'Overloaded',
    detail: 'The server has more work than it can do; try again after Retry-After.',
  },
  http_version_unsupported: {
    status: 505,
    title: 'HTTP version not supported',
    detail: 'This server speaks HTTP/1.1 and HTTP/1.0; put a proxy before it for later versions.',
  },
} as const satisfies Record<string, { status: number; title: string; detail: string }>

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

/** A 400 for a body that is none of what its Content-Type says. */
export function invalidBody(message: string): Problem {
  return new Problem('invalid_body', { detail: `The body ${message}.`, errors: [{ parameter: 'body', message }] })
}

/** A 400 that names one parameter and says what it takes. */
export function invalidParameter(parameter: string, message: string): Problem {
  return new Problem('invalid_parameter', { detail: `${parameter} ${message}.`, errors: [{ parameter, message }] })
}
