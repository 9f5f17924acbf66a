import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { faultOf, invalidBody, isFault, Problem } from '../errors.js'
import { toJsonBuffer } from '../json.js'
import { StoreError } from '../store/store.js'

const CUT_SHORT = 'is not well-formed, or not as long as Content-Length says'

export const PROBLEM_TYPE = 'application/problem+json'

/** How a scope formats its problems. */
export interface ProblemShape {
  contentType: string
  bodyOf(problem: Problem, requestId: string): unknown
}

const contractShape: ProblemShape = {
  contentType: PROBLEM_TYPE,
  bodyOf: (problem, requestId) => problem.toBody(requestId),
}

/** Converts errors to responses. Errors outside the catalogue are logged in full; the client gets no details. */
export function errorSender(shape = contractShape) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const isCutOff = request.raw.errored !== null && request.raw.errored === error
    const problem = isCutOff ? invalidBody(CUT_SHORT) : toProblem(error)
    if (isFault(problem.status)) logFault(problem, error, request)
    sendProblem(problem, shape, request, reply)
  }
}

/** Each kind of fault is logged once a minute, because a client may cause it a thousand times a second. */
function logFault(problem: Problem, error: unknown, request: FastifyRequest): void {
  const cause = problem.cause ?? error
  // A store's message is enough for the operator; our stack would add nothing.
  const err = cause instanceof StoreError ? cause.message : cause
  if (request.server.faultLines.take(`${problem.code}: ${kindOf(err)}`)) {
    request.log.error({ request_id: request.id, err }, problem.code)
  }
}

/** The kind of an error is where it was thrown. Its message may contain what a client sent. */
function kindOf(err: unknown): string {
  if (!(err instanceof Error)) return String(err).slice(0, MAX_KIND_CHARACTERS)
  const place = /^ +at .*$/m.exec(err.stack ?? '')?.[0].trim() ?? ''
  return `${err.name} ${place}`.slice(0, MAX_KIND_CHARACTERS)
}

const MAX_KIND_CHARACTERS = 200

function sendProblem(problem: Problem, shape: ProblemShape, request: FastifyRequest, reply: FastifyReply): void {
  reply.code(problem.status)
  reply.header('content-type', shape.contentType).header('cache-control', 'no-store')
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer realm="palmares"')
  if (problem.retryAfterSeconds !== undefined) reply.header('retry-after', String(problem.retryAfterSeconds))
  if (problem.status === 426) reply.header('upgrade', 'HTTP/1.1').header('connection', 'upgrade, close')
  if (problem.allow !== undefined) reply.header('allow', problem.allow)
  request.problem = problem.code
  reply.send(toJsonBuffer(shape.bodyOf(problem, request.id)))
}

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof StoreError) return new Problem('store_unavailable', { cause: error })
  const code = (error as Partial<FastifyError> | undefined)?.code ?? ''
  const framework = frameworkErrors[code]
  if (framework) return framework()
  if (error instanceof SyntaxError || code.startsWith('FST_ERR_CTP_')) return invalidBody(CUT_SHORT)
  return new Problem('internal_error', { cause: error })
}

/** What the framework refuses before a handler runs. */
const frameworkErrors: Record<string, () => Problem> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new Problem('body_too_large'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new Problem('unsupported_media_type'),
  FST_ERR_BAD_URL: () => faultOf('malformed_request', 'path', 'is not valid percent-encoded UTF-8', 'The path'),
}
