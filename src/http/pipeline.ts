import { type IncomingMessage, METHODS, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Problem } from '../errors.js'
import { type BytesError, notHttp, problemOfBytes, type Refusals } from './refusals.js'

/** Requests of a connection that wait for their turn; the next one ends the connection. */
const MAX_WAITING = 500

/** Bytes of a request that may still come after its response; more close the connection. */
const MAX_REST_BYTES = 65_536
/** How often they are counted. */
const REST_INTERVAL_MILLISECONDS = 50

const LAST = Symbol('last response')
const WAITING = Symbol('waiting')
const IS_REFUSED = Symbol('is refused')
const HAS_BEGUN = Symbol('has begun')
const FAULT = Symbol('fault')
const CONTINUE = Symbol('continue')

interface Connection extends Socket {
  /** The response to the request that the parser read last, until both have ended. */
  [LAST]?: Pending
  /** How many requests wait for their turn; missing until one does. */
  [WAITING]?: number
  /** Its bytes were refused; later ones are ignored. */
  [IS_REFUSED]?: boolean
}

interface Pending extends ServerResponse {
  [HAS_BEGUN]?: boolean
  /** What is wrong with the rest of the request, found before its turn came. */
  [FAULT]?: Problem
}

interface Expecting extends IncomingMessage {
  [CONTINUE]?: () => void
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
  private handle: Handle = () => undefined

  constructor(
    private readonly refusals: Refusals,
    /** Called before each request is handled. */
    private readonly started: Handle,
  ) {}

  /** Takes everything that a server emits and that asks for an answer. */
  attach(server: Server, handle: Handle): Server {
    this.handle = handle
    const take = (request: IncomingMessage, response: ServerResponse) => this.take(request, response)
    server.on('request', take)
    server.on('checkContinue', (request: Expecting, response: ServerResponse) => {
      // If the response comes before the body, the client may send the body or not: only closing the connection is certain.
      const isKept = response.shouldKeepAlive
      response.shouldKeepAlive = false
      request[CONTINUE] = () => {
        response.shouldKeepAlive = isKept
        response.writeContinue()
      }
      this.take(request, response)
    })
    // An unknown expectation is ignored.
    server.on('checkExpectation', take)
    server.on('connect', (_request, socket: Connection) => {
      socket.on('error', () => undefined)
      this.refuse(socket, notHttp())
    })
    server.on('clientError', (error, socket) => this.refuseBytes(error, socket as Socket))
    return server
  }

  /** Answers what the parser refuses, when the responses before it have ended. */
  private refuseBytes(error: BytesError, socket: Connection): void {
    const problem = problemOfBytes(error)
    if (!problem) socket.destroy()
    // The parser fails again with each later read. The refusal is on its way, and so may be the answers before it.
    else if (socket[IS_REFUSED]) return
    else if (socket.writable) this.refuse(socket, problem)
    else this.refusals.close(socket)
  }

  private take(request: IncomingMessage, response: Pending): void {
    const socket: Connection = request.socket
    if (socket[IS_REFUSED]) return
    const previous = socket[LAST]
    const isFirst = response.socket !== null || !previous
    if (!isFirst && socket[WAITING] === MAX_WAITING) {
      this.refuse(socket, new Problem('overloaded'))
      return
    }
    socket[LAST] = response
    response.once('close', () => {
      if (!request.complete) this.limitRest(request)
      else if (socket[LAST] === response) delete socket[LAST]
    })
    if (isFirst) {
      this.begin(request, response)
      return
    }
    startWaiting(socket)
    previous.once('close', () => {
      stopWaiting(socket)
      this.begin(request, response)
    })
  }

  private begin(request: IncomingMessage, response: Pending): void {
    // An earlier response closed the connection: this request could not be answered, so it is not applied.
    if (!request.socket.writable) return
    const fault = response[FAULT] ?? (HTTP_METHODS.has(request.method ?? '') ? undefined : notHttp())
    if (fault) {
      this.refuseNow(request.socket, fault)
      return
    }
    response[HAS_BEGUN] = true
    this.started(request, response)
    this.handle(request, response)
  }

  /**
   * Closes the connection if a request that was answered early goes on for too long: a body of tiny chunks is slow to parse.
   * The bytes are counted from time to time, because a listener for them would change how Node reads the connection.
   */
  private limitRest(request: IncomingMessage): void {
    const socket: Connection = request.socket
    const from = socket.bytesRead
    const check = setInterval(() => {
      const isTooLong = !request.complete && socket.bytesRead - from > MAX_REST_BYTES
      if (request.complete || socket.destroyed || isTooLong) clearInterval(check)
      if (!isTooLong || socket.destroyed) return
      socket[IS_REFUSED] = true
      this.refusals.close(socket)
    }, REST_INTERVAL_MILLISECONDS).unref()
  }

  private refuse(socket: Connection, problem: Problem): void {
    if (socket[IS_REFUSED]) return
    socket[IS_REFUSED] = true
    const last = socket[LAST]
    if (!last || (last.closed && last.req.complete)) this.refusals.refuse(socket, problem)
    else if (last.req.complete) last.once('close', () => this.refuseNow(socket, problem))
    else if (!last[HAS_BEGUN]) last[FAULT] = problem
    else if (!last.headersSent) this.refusals.refuse(socket, problem, last)
    // A request that was answered before the rest of it turned out malformed gets no second answer.
    else if (last.closed) this.refusals.close(socket)
    else last.once('close', () => this.refusals.close(socket))
  }

  private refuseNow(socket: Connection, problem: Problem): void {
    socket[IS_REFUSED] = true
    this.refusals.refuse(socket, problem)
  }
}

/** Asks a client that waits with the body for it, once the request is admitted. */
export function askForBody(request: Expecting): void {
  request[CONTINUE]?.()
}

/** Reads nothing more while a request waits, so that few wait at once: those of one read, 64 KiB, at most. */
function startWaiting(socket: Connection): void {
  if (socket[WAITING] === undefined) {
    // Node resumes after each request that it has read whole.
    socket.on('resume', () => {
      if (socket.writable && (socket[IS_REFUSED] || socket[WAITING])) socket.pause()
    })
  }
  socket[WAITING] = (socket[WAITING] ?? 0) + 1
  socket.pause()
}

function stopWaiting(socket: Connection): void {
  socket[WAITING] = (socket[WAITING] ?? 1) - 1
  if (socket[WAITING] === 0) socket.resume()
}
