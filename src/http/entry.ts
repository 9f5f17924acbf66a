import type { FastifyReply, FastifyRequest } from 'fastify'
import { faultOf, Problem } from '../errors.js'
import type { Budget } from '../limits/limits.js'
import type { Budgets } from './budgets.js'
import { isHost } from './host.js'
import { addressOf, type Origins } from './origin.js'
import type { Recorder } from './recorder.js'
import { notHttp } from './refusals.js'

const MAX_REQUEST_LINE_BYTES = 8 * 1024

type Answer = (error?: Error) => void

/** The first phase of a request, before admission: labels its answer, answers preflights, refuses what is malformed. */
export class Entry {
  constructor(
    private readonly recorder: Recorder,
    private readonly origins: Origins,
    private readonly budgets: Budgets,
  ) {}

  pass(request: FastifyRequest, reply: FastifyReply, done: Answer): void {
    this.label(request, reply)
    if (this.origins.answerCors(request, reply)) return
    const fault = codingFault(request) ?? requestLineFault(request) ?? headerFault(request)
    if (!fault) {
      done()
      return
    }
    // Where the request ends is not certain.
    if (fault.status > 500) reply.header('connection', 'close')
    this.refuse(fault, request, reply, done)
  }

  label(request: FastifyRequest, reply: FastifyReply): void {
    this.recorder.label(request, reply)
    reply.header('x-request-id', request.id).header('api-version', '1').header('x-content-type-options', 'nosniff')
  }

  /**
   * Charges the address for a fault that was found before admission. A spent budget changes the answer only of requests
   * without a credential: whether a credential is valid is not known yet.
   */
  refuse(fault: Error, request: FastifyRequest, reply: FastifyReply, answer: Answer): void {
    if (!this.budgets.isLimited || request.routeOptions.config?.isProbe) {
      answer(fault)
      return
    }
    const { cookie, authorization } = request.headers
    const charged = (budget: Budget) => {
      const isAnonymous = cookie === undefined && authorization === undefined
      answer((isAnonymous && this.budgets.apply('adresse', budget, request, reply)) || fault)
    }
    const budget = this.budgets.take('adresse', addressOf(request))
    if (budget instanceof Promise) void budget.then(charged)
    else charged(budget)
  }
}

/** A version, or a coding of the body, that the parser lets through and nothing here speaks. */
function codingFault({ raw: { httpVersion, headers } }: FastifyRequest): Problem | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return new Problem('http_version_unsupported')
  const codings = headers['transfer-encoding']?.toLowerCase()
  if (codings === undefined || codings === 'chunked') return undefined
  return codings.endsWith('chunked') ? new Problem('transfer_coding_unsupported') : notHttp()
}

function requestLineFault(request: FastifyRequest): Problem | undefined {
  const { url = '', method = '' } = request.raw
  const isLong = method.length + url.length + ' HTTP/1.1'.length + 1 > MAX_REQUEST_LINE_BYTES
  return isLong ? new Problem('uri_too_long') : undefined
}

/**
 * A Host that is missing or no host at all is malformed, https://www.rfc-editor.org/rfc/rfc9112#section-3.2. So is a second
 * Host or Authorization: Node keeps the first, a proxy may have read the other.
 */
function headerFault({ raw: { httpVersion, rawHeaders, headers } }: FastifyRequest): Problem | undefined {
  if (headers.host !== undefined && !isHost(headers.host)) {
    return badHeader('Host', 'takes a name or an address, with or without a port')
  }
  if (headers.host === undefined && httpVersion !== '1.0') return badHeader('Host', 'is required in HTTP/1.1')
  let hosts = 0
  let authorizations = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations++
  }
  if (hosts > 1) return badHeader('Host', 'was given twice')
  return authorizations > 1 ? badHeader('Authorization', 'was given twice') : undefined
}

function badHeader(name: string, message: string): Problem {
  return faultOf('malformed_request', name.toLowerCase(), message, `The header ${name}`)
}
