import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify'
import { type ErrorCode, Problem } from '../errors.js'
import { toJsonBuffer } from '../json.js'
import type { Metrics } from './metrics.js'
import { malformed, PROBLEM_TYPE } from './problems.js'

/** Answers a socket whose bytes are no request that we take, and closes it. */
export type RefuseBytes = (error: Error & { code?: string }, socket: Socket) => void

/** The framework has not seen such bytes, so the answer is written by hand; the log and the metrics have it all the same. */
export function bytesRefuser(log: FastifyBaseLogger, metrics: Metrics, nextId: () => string): RefuseBytes {
  return (error, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy()
      return
    }
    const { errors } = malformed('request', 'is not well-formed HTTP')
    const problem = new Problem(parserErrors[error.code ?? ''] ?? 'malformed_request', { errors })
    const id = nextId()
    log.info(
      { request_id: id, status: problem.status, address: socket.remoteAddress, problem: problem.code },
      'request',
    )
    metrics.problemAnswered(problem.code)
    socket.end(answerText(problem, id), () => socket.destroy())
    setTimeout(() => socket.destroy(), REFUSED_LINGER_MILLISECONDS).unref()
  }
}

/** What Node would answer by itself, or not at all: an expectation that nobody knows is ignored, a tunnel is refused. */
export function answerOddRequests(app: FastifyInstance, refuseBytes: RefuseBytes): void {
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', (_request, socket: Socket) => {
    socket.on('error', () => undefined)
    refuseBytes(new Error('CONNECT is not served'), socket)
  })
}

/** A socket that was told why it is refused may read that for so long. */
const REFUSED_LINGER_MILLISECONDS = 1_000

/** After the signal, requests that were on their way are still answered for so long. */
const STOP_GRACE_MILLISECONDS = 250

/** Knows the connections of a server and what they are at, so that a stop drops no request and waits for no idler. */
export class Connections {
  private readonly open = new Map<string, Socket>()
  private readonly running = new Set<FastifyReply>()
  private isStopping = false

  constructor(app: FastifyInstance) {
    app.server.on('connection', (socket: Socket) => {
      if (this.isStopping) return socket.destroy()
      const key = keyOf(socket)
      this.open.set(key, socket)
      socket.once('close', () => this.open.delete(key))
    })
    app.addHook('preClose', () => this.stop())
  }

  requestStarted(reply: FastifyReply): void {
    this.running.add(reply)
    if (this.isStopping) closeAfter(reply)
  }

  requestEnded(reply: FastifyReply): void {
    this.running.delete(reply)
  }

  /**
   * Takes no new connection, and says `Connection: close` with every answer from now on. What has no request under way
   * after a moment is ended: idle connections, half a request, half a handshake.
   */
  private async stop(): Promise<void> {
    this.isStopping = true
    for (const reply of this.running) closeAfter(reply)
    await sleep(STOP_GRACE_MILLISECONDS)
    const busy = new Set([...this.running].map((reply) => keyOf(reply.request.raw.socket)))
    for (const [key, socket] of this.open) if (!busy.has(key)) socket.destroy()
  }
}

function closeAfter(reply: FastifyReply): void {
  reply.raw.shouldKeepAlive = false
}

/** The same for a TLS connection and the TCP connection below it. */
function keyOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`
}

const parserErrors: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

function answerText(problem: Problem, requestId: string): string {
  const body = toJsonBuffer(problem.toBody(requestId))
  return (
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n` +
    `Content-Type: ${PROBLEM_TYPE}\r\nContent-Length: ${body.length}\r\nCache-Control: no-store\r\n` +
    `X-Request-Id: ${requestId}\r\nAPI-Version: 1\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`
  )
}
