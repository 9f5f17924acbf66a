import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode, Problem } from '../errors.js'
import { LogBudget } from './log-budget.js'
import type { Metrics } from './metrics.js'
import { addressOf } from './origin.js'

/** Levels at which a request's line is not written, and so not made. */
const LEVELS_BELOW_INFO = new Set(['warn', 'error', 'fatal', 'silent'])

/** Lines of one kind in a minute, of the answers that clients may cause any number of. */
const UNBOUNDED_LINES_PER_MINUTE = 60

/** Refusals that no budget bounds, or those of many callers together. */
const UNBOUNDED = new Set<ErrorCode>([
  'malformed_request',
  'request_timeout',
  'uri_too_long',
  'headers_too_large',
  'transfer_coding_unsupported',
  'http_version_unsupported',
  'rate_limited',
  'address_limited',
  'login_throttled',
  'overloaded',
])

const REQUEST = Symbol('request')
const REFUSAL = Symbol('refusal')

interface Recorded extends ServerResponse {
  /** What the framework knows of the request; missing until it does. */
  [REQUEST]?: FastifyRequest
  /** What was written by hand in place of this response. */
  [REFUSAL]?: Problem
}

/**
 * Counts, labels and logs every answer, exactly once. A response is counted from the moment when Node hands it over, before
 * the framework sees it, so none can go out uncounted.
 */
export class Recorder {
  private readonly unboundedLines: LogBudget

  constructor(
    private readonly log: FastifyBaseLogger,
    private readonly metrics: Metrics,
    /** Whether callers have budgets. */
    private readonly isLimited: boolean,
  ) {
    this.unboundedLines = new LogBudget(UNBOUNDED_LINES_PER_MINUTE, (suppressed) =>
      log.info({ suppressed }, 'lines of requests suppressed'),
    )
  }

  begin(request: IncomingMessage, response: ServerResponse): void {
    const startedAt = performance.now()
    this.metrics.requestStarted()
    response.once('close', () => this.end(request, response, performance.now() - startedAt))
  }

  /** Labels the answer by what the framework knows of the request. */
  label(request: FastifyRequest, reply: FastifyReply): void {
    const response: Recorded = reply.raw
    response[REQUEST] = request
  }

  /** Labels a response that began by the refusal that is written in its place. Returns the id of the request. */
  replace(response: ServerResponse, problem: Problem): string | undefined {
    const recorded: Recorded = response
    recorded[REFUSAL] = problem
    return recorded[REQUEST]?.id
  }

  /** Counts an answer to bytes that never became a request. */
  refused(id: string, problem: Problem, address: string | undefined, seconds: number): void {
    this.metrics.answered('*', '*', problem.status, seconds, problem.code)
    if (this.isSilent || !this.unboundedLines.take(problem.code)) return
    this.log.info({ request_id: id, status: problem.status, address, problem: problem.code }, 'request')
  }

  /** Reports the lines that were suppressed and not yet reported. */
  close(): void {
    this.unboundedLines.close()
  }

  /** The log has the route and the path without its query: a query may contain a password. */
  private end({ method = '*' }: IncomingMessage, response: Recorded, milliseconds: number): void {
    const { [REQUEST]: request, [REFUSAL]: refusal } = response
    const route = request && !request.is404 ? (request.routeOptions.url ?? '*') : '*'
    const problem = refusal?.code ?? request?.problem
    const status = refusal?.status ?? response.statusCode
    this.metrics.requestEnded()
    this.metrics.answered(method, route, status, milliseconds / 1000, problem)
    if (this.isSilent || request?.routeOptions.config.isProbe) return
    if (this.isUnbounded(request, problem) && !this.unboundedLines.take(problem ?? String(status))) return
    this.log.info(
      {
        request_id: request?.id,
        method,
        route,
        status,
        ms: Math.round(milliseconds * 100) / 100,
        address: request && addressOf(request),
        compte: request?.principal?.id_compte,
        problem,
      },
      'request',
    )
  }

  private get isSilent(): boolean {
    return LEVELS_BELOW_INFO.has(this.log.level)
  }

  /** Whether clients may cause any number of such answers: no account or address was charged, or no budget bounds them. */
  private isUnbounded(request: FastifyRequest | undefined, problem: ErrorCode | undefined): boolean {
    if (problem !== undefined && UNBOUNDED.has(problem)) return true
    return this.isLimited && !request?.principal && !request?.budget?.allowed
  }
}
