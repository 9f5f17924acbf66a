import { isUtf8 } from 'node:buffer'
import { createServer, type IncomingMessage, METHODS, type Server, type ServerOptions } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify'
import { invalidBody, invalidParameter, Problem } from '../errors.js'
import type { Budgets } from './budgets.js'
import { Entry } from './entry.js'
import { LogBudget } from './log-budget.js'
import type { Metrics } from './metrics.js'
import type { Origins } from './origin.js'
import { askForBody, Pipeline } from './pipeline.js'
import { errorSender } from './problems.js'
import { decodeQuery } from './query.js'
import { Refusals } from './refusals.js'
import './request.js'
import { Recorder } from './recorder.js'
import { shedLoad } from './shedding.js'
import { Connections } from './sockets.js'

/** Parsing JSON blocks the event loop. */
const MAX_JSON_BYTES = 131_072
/** How often the server looks for requests and connections that timed out. */
const TIMEOUT_CHECK_MILLISECONDS = 1_000

export interface HttpOptions {
  log: FastifyBaseLogger
  tls: { cert: Buffer; key: Buffer } | undefined
  /** The address and the headers together. */
  maxHeadBytes: number
  maxBodyBytes: number
  /** How long a request may take to arrive. */
  requestTimeoutSeconds: number
  /** How long a connection may idle. */
  keepAliveSeconds: number
  /** Further connections are closed at once. */
  maxConnections: number
}

export interface HttpDeps {
  metrics: Metrics
  origins: Origins
  budgets: Budgets
  /**
   * May rewrite a URL before routing, for a scope that accepts URLs which the router refuses, or that is at the root of the
   * called host.
   */
  rewriteUrl(url: string, isAtRoot: boolean): string
}

/** A server with the phases that every request passes, but without routes. */
export function createHttpServer(options: HttpOptions, deps: HttpDeps): FastifyInstance {
  const { log } = options
  const { metrics, origins, budgets } = deps
  const nextId = requestIds()
  const sendError = errorSender()
  const recorder = new Recorder(log, metrics, budgets.isLimited)
  const connections = new Connections()
  const faultLines = new LogBudget(1, (suppressed) => log.error({ suppressed }, 'lines of faults suppressed'))
  const entry = new Entry(recorder, origins, budgets)
  const pipeline = new Pipeline(new Refusals(recorder, budgets, nextId), (request, response) => {
    recorder.begin(request, response)
    connections.requestStarted(request, response)
  })
  const app = Fastify({
    ...frameworkOptions(options, deps),
    genReqId: nextId,
    frameworkErrors: (error, request, reply) => {
      entry.label(request, reply)
      entry.refuse(error, request, reply, (refusal) => sendError(refusal, request, reply))
    },
    serverFactory: (handle) => pipeline.attach(createNodeServer(options), handle),
  })
  addMethods(app)
  addParsers(app)
  connections.watch(app)
  app.decorate('faultLines', faultLines)
  for (const field of ['principal', 'credentialFault', 'budget', 'paidAhead', 'versions', 'problem'] as const)
    app.decorateRequest(field, undefined as never)
  app.addHook('onRequest', (request, reply, done) => entry.pass(request, reply, done))
  shedLoad(app)
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const isTooLarge = Number(request.headers['content-length'] ?? 0) > request.routeOptions.bodyLimit
    if (!isTooLarge) askForBody(request.raw)
    done(null, payload)
  })
  app.setErrorHandler(sendError)
  app.addHook('onClose', async () => {
    recorder.close()
    faultLines.close()
  })
  return app
}

function frameworkOptions({ log, tls, maxBodyBytes, maxHeadBytes }: HttpOptions, { origins, rewriteUrl }: HttpDeps) {
  return {
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (logger: FastifyBaseLogger) => logger,
    requestIdHeader: false,
    trustProxy: origins.trust ?? false,
    bodyLimit: maxBodyBytes,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // `OPTIONS *` is about the whole server, but the router would route it to the page at `/`.
    rewriteUrl: (raw: IncomingMessage) => rewriteUrl(raw.url === '*' ? '/*' : (raw.url ?? ''), origins.isAtRoot(raw)),
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: maxHeadBytes,
      querystringParser: () => ({}),
    },
    // The pipeline answers these.
    clientErrorHandler: () => undefined,
    // The framework asks whether there is one, to say which scheme it listens for.
    https: tls ?? null,
  } as FastifyServerOptions
}

function createNodeServer(options: HttpOptions): Server {
  const { tls, maxHeadBytes, requestTimeoutSeconds, keepAliveSeconds, maxConnections } = options
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
  // The head is limited in bytes. Above a limit on their number Node silently drops headers, possibly the credential.
  server.maxHeadersCount = 0
  // A client that half-closes the connection still gets its responses. Node has this property, its types do not.
  Object.assign(server, { httpAllowHalfOpen: true })
  return server
}

/** Routes every method that the parser knows, so that a wrong method is distinguished from a wrong path. */
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

/** A form obeys the rules of a query: valid UTF-8, and no name with two different values. */
function readForm(body: string): Record<string, string> {
  const fields = [...decodeQuery(body)].map(([name, [value = '', ...others]]) => {
    if (others.some((other) => other !== value)) throw invalidParameter(name, 'was given twice with different values')
    return [name, value]
  })
  return Object.fromEntries(fields)
}

/** Ids that are unique across processes and cost only a counter. */
function requestIds(): () => string {
  const prefix = `${process.pid.toString(36)}${Date.now().toString(36)}`
  let count = 0
  return () => `${prefix}-${(count++).toString(36)}`
}
