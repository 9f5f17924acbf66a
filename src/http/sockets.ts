import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { type ErrorCode, Problem } from '../errors.js'
import { toJsonBuffer } from './json.js'
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
    socket.end(answerText(problem, id))
  }
}

/** What Node would answer by itself, or not at all: an expectation that nobody knows is ignored, a tunnel is refused. */
export function answerOddRequests(app: FastifyInstance, refuseBytes: RefuseBytes): void {
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', (_request, socket: Socket) => {
    socket.on('error', () => undefined)
    refuseBytes(new Error('CONNECT is not served'), socket)
    socket.destroySoon()
  })
}

/**
 * A stop closes what is idle, but to Node neither a connection that never sent a byte is, nor one whose request ends
 * later: it would wait for both to the end of its patience. Returns what is to be called after each answer.
 */
export function closeIdleOnStop(app: FastifyInstance): () => void {
  const sockets = new Set<Socket>()
  let isStopping = false
  app.server.on('connection', (socket: Socket) => {
    if (isStopping) return socket.destroy()
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  app.addHook('preClose', async () => {
    isStopping = true
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  })
  return () => {
    if (isStopping) app.server.closeIdleConnections()
  }
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
