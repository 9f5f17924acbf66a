import { type IncomingMessage, METHODS, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Problem } from '../errors.js'
import { type BytesError, notHttp, problemOfBytes, type Refusals } from './refusals.js'

const LAST = Symbol('last response')
const IS_REFUSED = Symbol('is refused')
const HAS_BEGUN = Symbol('has begun')
const FAULT = Symbol('fault')

interface Connection extends Socket {
  /** The response to the request that the parser read last, until both have ended. */
  [LAST]?: Pending
  /** Its bytes were refused: no more of them are looked at. */
  [IS_REFUSED]?: boolean
}

interface Pending extends ServerResponse {
  [HAS_BEGUN]?: boolean
  /** What is wrong with the rest of the request, found before its turn came. */
  [FAULT]?: Problem
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/** Node's parser takes the methods of RTSP too, in requests that name that protocol. */
const HTTP_METHODS = new Set(METHODS)

/**
 * Handles the requests of a connection one at a time, in the order in which they came. A request waits until the response
 * before it has ended, and is dropped unhandled where that response closes the connection. So whatever was handled is
 * answered, and a refusal never overtakes an answer.
 */
export class Pipeline {
  constructor(
    private readonly handle: Handle,
    private readonly refusals: Refusals,
  ) {}

  /** Takes everything that a server emits and that asks for an answer, bytes that the parser refuses excepted. */
  attach(server: Server): void {
    const take = (request: IncomingMessage, response: ServerResponse) => this.take(request, response)
    server.on('request', take)
    server.on('checkContinue', (request, response) => this.take(request, response, () => response.writeContinue()))
    // An expectation that nobody knows is ignored.
    server.on('checkExpectation', take)
    server.on('connect', (_request, socket: Connection) => {
      socket.on('error', () => undefined)
      this.refuse(socket, notHttp())
    })
  }

  /** Answers what the parser refuses, when the responses before it have ended. */
  refuseBytes(error: BytesError, socket: Connection): void {
    const problem = problemOfBytes(error)
    if (!problem || !socket.writable) socket.destroy()
    else this.refuse(socket, problem)
  }

  private take(request: IncomingMessage, response: Pending, before?: () => void): void {
    const socket: Connection = request.socket
    const previous = socket[LAST]
    socket[LAST] = response
    response.once('close', () => {
      if (socket[LAST] === response && request.complete) delete socket[LAST]
    })
    if (response.socket !== null || !previous) {
      this.begin(request, response, before)
      return
    }
    // Nothing more is read while a request waits, so that few wait at once.
    socket.pause()
    previous.once('close', () => {
      if (socket[LAST] === response) socket.resume()
      this.begin(request, response, before)
    })
  }

  private begin(request: IncomingMessage, response: Pending, before?: () => void): void {
    // An earlier response closed the connection: this request could not be answered, so it is not applied.
    if (!request.socket.writable) return
    const fault = response[FAULT] ?? (HTTP_METHODS.has(request.method ?? '') ? undefined : notHttp())
    if (fault) {
      this.refuseNow(request.socket, fault)
      return
    }
    response[HAS_BEGUN] = true
    before?.()
    this.handle(request, response)
  }

  private refuse(socket: Connection, problem: Problem): void {
    if (socket[IS_REFUSED]) return
    socket[IS_REFUSED] = true
    const last = socket[LAST]
    if (!last || (last.closed && last.req.complete)) this.refusals.refuse(socket, problem)
    else if (last.req.complete) last.once('close', () => this.refuseNow(socket, problem))
    else if (!last[HAS_BEGUN]) last[FAULT] = problem
    else if (!last.headersSent) this.refusals.refuse(socket, problem, last)
    else endAfter(last, socket)
  }

  private refuseNow(socket: Connection, problem: Problem): void {
    socket[IS_REFUSED] = true
    this.refusals.refuse(socket, problem)
  }
}

/** A request that was answered before the rest of it turned out malformed gets no second answer. */
function endAfter(response: ServerResponse, socket: Socket): void {
  if (response.closed) socket.destroySoon()
  else response.once('close', () => socket.destroySoon())
}
