import { isUtf8 } from 'node:buffer'
import {
  createServer,
  type IncomingMessage,
  METHODS,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
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
import { LogBudget } from './log-budget.js'
import type { Metrics } from './metrics.js'
import { addressOf, type Origins } from './origin.js'
import { Pipeline } from './pipeline.js'
import { errorSender } from './problems.js'
import { decodeQuery } from './query.js'
import { notHttp, Refusals } from './refusals.js'
import './request.js'
import { shedLoad } from './shedding.js'
import { Connections } from './sockets.js'
import type { ChargeStranger } from './strangers.js'
import { Tally } from './tally.js'

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

export interface HttpDeps {
  metrics: Metrics
  origins: Origins
  charge: ChargeStranger
  /**
   * May rewrite an address before the router reads it, for a scope that accepts what the router would refuse, or that is at the
   * root of the called host.
   */
  mend(url: string, isAtRoot: boolean): string
}

/** A server with the phases that every request passes, and no route. */
export function createHttpServer(
  settings: HttpSettings,
  { metrics, origins, charge, mend }: HttpDeps,
): FastifyInstance {
  const { log } = settings
  const nextId = requestIds()
  const sendError = errorSender()
  const tally = new Tally(log, metrics)
  const connections = new Connections()
  const faultLines = new LogBudget(1, (suppressed) => log.error({ suppressed }, 'lines of faults suppressed'))
  /** Answers a fault that was found before admission. */
  const refuse = (fault: Error, request: FastifyRequest, answer: (error: Error) => void) => {
    const limited = request.routeOptions.config?.isProbe ? undefined : charge(addressOf(request))
    if (limited instanceof Promise) void limited.then((later) => answer(later ?? fault))
    else answer(limited ?? fault)
  }
  let pipeline: Pipeline
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (logger: FastifyBaseLogger) => logger,
    genReqId: nextId,
    requestIdHeader: false,
    trustProxy: origins.trust ?? false,
    bodyLimit: settings.maxBodyBytes,
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
      refuse(error, request, (refusal) => sendError(refusal, request, reply))
    },
    clientErrorHandler: (error: Error, socket: Socket) => pipeline.refuseBytes(error, socket),
    serverFactory: (handle: (request: IncomingMessage, response: ServerResponse) => void) => {
      pipeline = new Pipeline(
        (request, response) => {
          tally.begin(request, response)
          connections.requestStarted(request, response)
          handle(request, response)
        },
        new Refusals(tally, charge, nextId),
      )
      const server = createNodeServer(settings)
      pipeline.attach(server)
      return server
    },
    // The framework asks whether there is one, to say which scheme it listens for.
    https: settings.tls ?? null,
  } as object) as unknown as FastifyInstance

  addMethods(app)
  addParsers(app)
  connections.watch(app)
  app.decorate('faultLines', faultLines)
  for (const field of ['principal', 'refusal', 'budget', 'versions', 'problem'] as const)
    app.decorateRequest(field, undefined as never)

  const begin = (request: FastifyRequest, reply: FastifyReply) => {
    tally.label(request, reply)
    reply.header('x-request-id', request.id).header('api-version', '1').header('x-content-type-options', 'nosniff')
  }
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply)
    if (origins.answerCors(request, reply)) return
    const fault = codingFault(request) ?? requestLineFault(request) ?? hostFault(request)
    if (!fault) return done()
    // Where the request ends is not certain.
    if (fault.status > 500) reply.header('connection', 'close')
    refuse(fault, request, done)
  })
  shedLoad(app)
  app.setErrorHandler(sendError)
  app.addHook('onClose', async () => {
    tally.close()
    faultLines.close()
  })
  return app
}

function createNodeServer(settings: HttpSettings): Server {
  const { tls, maxHeadBytes, requestTimeoutSeconds, keepAliveSeconds, maxConnections } = settings
  const bounds: ServerOptions = {
    maxHeaderSize: maxHeadBytes,
    requireHostHeader: false,
    requestTimeout: requestTimeoutSeconds * 1000,
    headersTimeout: requestTimeoutSeconds * 1000,
    keepAliveTimeout: keepAliveSeconds * 1000,
    connectionsCheckingInterval: TIMEOUT_CHECK_MILLISECONDS,
  }
  const server = tls
    ? createTlsServer({ ...bounds, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: requestTimeoutSeconds * 1000 })
    : createServer(bounds)
  server.maxConnections = maxConnections
  // The head is bounded in bytes; a bound on its lines would silently lose a credential behind many others.
  server.maxHeadersCount = 0
  // A client that has sent all it wants to send still gets its answers. Node has this property, its types do not.
  Object.assign(server, { httpAllowHalfOpen: true })
  return server
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

/** Ids that no two processes share and that cost a counter. */
function requestIds(): () => string {
  const prefix = `${process.pid.toString(36)}${Date.now().toString(36)}`
  let count = 0
  return () => `${prefix}-${(count++).toString(36)}`
}
