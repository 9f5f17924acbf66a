import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type ErrorCode, Problem } from '../errors.js'
import { toJsonBuffer } from '../json.js'
import type { Budget } from '../limits/limits.js'
import { type Budgets, refusalOf } from './budgets.js'
import { PROBLEM_TYPE } from './problems.js'
import type { Recorder } from './recorder.js'

/** How long a refused client may read the answer before its connection is destroyed. */
const LINGER_MILLISECONDS = 1_000

type Headers = readonly [name: string, value: string][]

/** An error of Node's parser, or of a socket. */
export interface BytesError extends Error {
  code?: string
  rawPacket?: Buffer
  /** In `rawPacket`, where the parser stopped. */
  bytesParsed?: number
}

/** Writes answers by hand, where the framework has no request to answer, and closes the connection. */
export class Refusals {
  constructor(
    private readonly recorder: Recorder,
    private readonly budgets: Budgets,
    private readonly nextId: () => string,
  ) {}

  /** Refuses what a socket sent. A response that began is replaced by the refusal. */
  refuse(socket: Socket, problem: Problem, begun?: ServerResponse): void {
    const startedAt = performance.now()
    const address = socket.remoteAddress
    if (begun) {
      this.write(socket, problem, this.recorder.replace(begun, problem) ?? this.nextId())
      return
    }
    const answer = (budget?: Budget) => {
      const sent = (budget && refusalOf('adresse', budget)) ?? problem
      const id = this.nextId()
      if (!this.write(socket, sent, id, budget && this.budgets.headersOf('adresse', budget))) return
      this.recorder.refused(id, sent, address, (performance.now() - startedAt) / 1000)
    }
    const budget = this.budgets.isLimited ? this.budgets.take('adresse', address ?? '') : undefined
    if (budget instanceof Promise) void budget.then(answer)
    else answer(budget)
  }

  private write(socket: Socket, problem: Problem, id: string, headers?: Headers): boolean {
    if (!socket.writable) {
      socket.destroy()
      return false
    }
    socket.write(textOf(problem, id, headers))
    this.close(socket)
    return true
  }

  /**
   * Half-closes the connection and discards for a moment what still arrives: if unread bytes were left, the kernel would
   * reset it, and the client might lose the last answers.
   */
  close(socket: Socket): void {
    socket.end()
    // Takes the bytes from the parser, which would keep each request that it finds in them.
    socket.removeAllListeners('data').on('data', () => undefined)
    socket.resume()
    setTimeout(() => socket.destroy(), LINGER_MILLISECONDS).unref()
  }
}

/** Why bytes are refused; undefined if the connection failed, so that no answer could arrive. */
export function problemOfBytes(error: BytesError): Problem | undefined {
  const code = error.code ?? ''
  const known = codes[code]
  if (known && !isAfterVersion(error)) return new Problem(known)
  if (!code.startsWith('HPE_')) return undefined
  const { rawPacket, bytesParsed = 0 } = error
  const isNonAscii = (rawPacket?.[bytesParsed] ?? 0) >= 0x80
  if (code === 'HPE_INVALID_URL' && isNonAscii) return new Problem('malformed_request', NON_ASCII_URL)
  return notHttp()
}

/** What is not well-formed HTTP. */
export function notHttp(): Problem {
  return new Problem('malformed_request', { errors: [{ parameter: 'request', message: 'is not well-formed HTTP' }] })
}

const codes: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_INVALID_VERSION: 'http_version_unsupported',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** Whether the version itself is fine and what follows it is not, such as a line feed alone. */
function isAfterVersion({ code, rawPacket, bytesParsed = 0 }: BytesError): boolean {
  if (code !== 'HPE_INVALID_VERSION') return false
  return /HTTP\/1\.[01][^.\d]?$/s.test(rawPacket?.toString('latin1', 0, bytesParsed) ?? '')
}

/** Node's parser takes only ASCII in a URL. */
const NON_ASCII_URL = {
  detail: 'The URL has bytes that are not ASCII; send them percent-encoded, as UTF-8.',
  errors: [{ parameter: 'url', message: 'has bytes that are not ASCII; percent-encode them' }],
}

function textOf(problem: Problem, requestId: string, headers: Headers = []): string {
  const body = toJsonBuffer(problem.toBody(requestId))
  const retryAfter = problem.retryAfterSeconds === undefined ? '' : `Retry-After: ${problem.retryAfterSeconds}\r\n`
  return (
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n` +
    `Content-Type: ${PROBLEM_TYPE}\r\nContent-Length: ${body.length}\r\nCache-Control: no-store\r\n${retryAfter}` +
    headers.map(([name, value]) => `${name}: ${value}\r\n`).join('') +
    `X-Request-Id: ${requestId}\r\nAPI-Version: 1\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`
  )
}
