import { isUtf8 } from 'node:buffer'
import { type IncomingMessage, METHODS } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { invalidBody, invalidParameter, Problem } from '../errors.js'
import { isHost } from './host.js'
import type { Metrics } from './metrics.js'
import { addressOf, type Origins } from './origin.js'
import { errorSender } from './problems.js'
import { decodeQuery } from './query.js'
import './request.js'
import { shedLoad } from './shedding.js'
import { answerOddRequests, bytesRefuser, Connections } from './sockets.js'

const MAX_REQUEST_LINE_BYTES = 8 * 1024
/** JSON is parsed at once, while nothing else runs. */
const MAX_JSON_BYTES = 131_072
/** A time-out is noticed so late at most. */
const TIMEOUT_CHECK_MILLISECONDS = 1_000

export interface HttpSettings {
  log: FastifyBaseLogger
  tls: { cert: Buffer; key: Buffer } | undefined
  /** The address and the headers together. */
  maxHeadBytes: number
  maxBodyBytes: number
  /** How long a request may take to arrive. */
  requestTimeoutSeconds: number
  /** How long a connection may idle. */
  keepAliveSeconds: number
  /** Connections beyond are closed at once. */
  maxConnections: number
}

/**
 * A server with the phases that every request passes, and no route. `mend` may rewrite an address before the router reads it,
 * for a scope that accepts what the router would refuse, or that is at the root of the called host.
 */
export function createHttpServer(
  settings: HttpSettings,
  metrics: Metrics,
  origins: Origins,
  mend: (url: string, isAtRoot: boolean) => string,
): FastifyInstance {
  const nextId = requestIds()
  const sendError = errorSender()
  const app = Fastify({
    loggerInstance: settings.log,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (log: FastifyBaseLogger) => log,
    genReqId: nextId,
    requestIdHeader: false,
    trustProxy: origins.trust ?? false,
    bodyLimit: settings.maxBodyBytes,
    requestTimeout: settings.requestTimeoutSeconds * 1000,
    keepAliveTimeout: settings.keepAliveSeconds * 1000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // The router would take the server as a whole for the page at `/`.
    rewriteUrl: (raw: IncomingMessage) => mend(raw.url === '*' ? '/*' : (raw.url ?? ''), origins.isAtRoot(raw)),
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: settings.maxHeadBytes,
      querystringParser: () => ({}),
    },
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      begin(request, reply)
      sendError(error, request, reply)
    },
    clientErrorHandler: (error: Error, socket: Socket) => refuseBytes(error, socket),
    ...serverOptions(settings),
  } as object) as unknown as FastifyInstance

  app.server.maxConnections = settings.maxConnections
  // The head is bounded in bytes; a bound on its lines would silently lose a credential behind many others.
  app.server.maxHeadersCount = 0
  addMethods(app)
  addParsers(app)
  const refuseBytes = bytesRefuser(settings.log, metrics, nextId)
  answerOddRequests(app, refuseBytes)
  const connections = new Connections(app)
  for (const field of ['principal', 'refusal', 'budget', 'versions', 'problem', 'startedAt'] as const)
    app.decorateRequest(field, undefined as never)

  const begin = (request: FastifyRequest, reply: FastifyReply) => {
    request.startedAt = performance.now()
    metrics.requestStarted()
    connections.requestStarted(reply)
    reply.raw.once('close', () => {
      connections.requestEnded(reply)
      finish(request, reply, metrics)
    })
    reply.header('x-request-id', request.id).header('api-version', '1').header('x-content-type-options', 'nosniff')
  }
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply)
    if (origins.answerCors(request, reply)) return
    done(requestLineFault(request) ?? hostFault(request))
  })
  shedLoad(app)
  app.setErrorHandler(sendError)
  return app
}

function serverOptions({ tls, maxHeadBytes, requestTimeoutSeconds }: HttpSettings): object {
  const bounds = {
    maxHeaderSize: maxHeadBytes,
    requireHostHeader: false,
    // Node compares the two as it makes the server, before the framework sets this one.
    requestTimeout: requestTimeoutSeconds * 1000,
    headersTimeout: requestTimeoutSeconds * 1000,
    connectionsCheckingInterval: TIMEOUT_CHECK_MILLISECONDS,
  }
  return tls
    ? { https: { ...bounds, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: requestTimeoutSeconds * 1000 } }
    : { http: bounds }
}

function requestLineFault(request: FastifyRequest): Problem | undefined {
  const { url = '', method = '' } = request.raw
  const isLong = method.length + url.length + ' HTTP/1.1'.length + 1 > MAX_REQUEST_LINE_BYTES
  return isLong ? new Problem('uri_too_long') : undefined
}

/** A Host that is missing, doubled or no host at all is malformed, https://www.rfc-editor.org/rfc/rfc9112#section-3.2. */
function hostFault({ raw: { httpVersion, rawHeaders, headers } }: FastifyRequest): Problem | undefined {
  if (headers.host === undefined) return httpVersion === '1.0' ? undefined : badHost('is required in HTTP/1.1')
  if (!isHost(headers.host)) return badHost('takes a name or an address, with or without a port')
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts > 1 ? badHost('was given twice') : undefined
}

function badHost(message: string): Problem {
  return new Problem('malformed_request', {
    detail: `The header Host ${message}.`,
    errors: [{ parameter: 'host', message }],
  })
}

/** Every method that the parser knows reaches a route, so that each wrong one is told apart from a wrong path. */
function addMethods(app: FastifyInstance): void {
  const known = new Set<string>(app.supportedMethods)
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !known.has(method)) app.addHttpMethod(method)
  }
}

function addParsers(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length > MAX_JSON_BYTES) done(new Problem('body_too_large'))
    else if (isUtf8(body as Buffer)) parseJson(request, body.toString(), done)
    else done(invalidBody('is not UTF-8'))
  })
  app.addContentTypeParser('application/x-ndjson', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: FastifyRequest, body: string) => readForm(body),
  )
}

/** A form is held to what a query is: valid UTF-8, and no name twice with two values. */
function readForm(body: string): Record<string, string> {
  const fields = [...decodeQuery(body)].map(([name, [value = '', ...others]]) => {
    if (others.some((other) => other !== value)) throw invalidParameter(name, 'was given twice with different values')
    return [name, value]
  })
  return Object.fromEntries(fields)
}

/** Levels at which a request's line is not written, and so not made. */
const LEVELS_BELOW_INFO = new Set(['warn', 'error', 'fatal', 'silent'])

/** The log has the route and the path without its query: a query may hold a password. */
function finish(request: FastifyRequest, reply: FastifyReply, metrics: Metrics): void {
  const route = request.is404 ? '*' : (request.routeOptions.url ?? '*')
  const milliseconds = performance.now() - request.startedAt
  const { problem, principal } = request
  metrics.requestEnded(request.method, route, reply.statusCode, milliseconds / 1000, problem)
  if (request.routeOptions.config.isProbe || LEVELS_BELOW_INFO.has(request.log.level)) return
  request.log.info(
    {
      request_id: request.id,
      method: request.method,
      route,
      status: reply.statusCode,
      ms: round(milliseconds),
      address: addressOf(request),
      compte: principal?.id_compte,
      problem,
    },
    'request',
  )
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100
}

/** Ids that no two processes share and that cost a counter. */
function requestIds(): () => string {
  const prefix = `${process.pid.toString(36)}${Date.now().toString(36)}`
  let count = 0
  return () => `${prefix}-${(count++).toString(36)}`
}
