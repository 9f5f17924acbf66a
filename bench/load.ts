import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { randomFrom } from './random.js'

/** Requests that never repeat: `before`, a random integer from `min` to `max`, `after`, and the number of the request. */
export interface FreshPaths {
  before: string
  min: number
  max: number
  after: string
}

export type Path = string | FreshPaths

/** What to send, and for how long. */
export interface Job {
  port: number
  /** Each has one request in flight at any time. */
  connections: number
  /** Responses during this time are checked, but not counted. */
  warmSeconds: number
  seconds: number
  /** One repeated path, or paths that never repeat, or several of these alternately. */
  path: Path | readonly Path[]
  /** The first number and the seed of unique paths. The same values give the same requests. */
  seed: number
  headers: Record<string, string>
  /** The expected status of every response. */
  status: number
}

export interface LoadResult {
  requestsPerSecond: number
  p50Milliseconds: number
  p99Milliseconds: number
  /** All received responses, including those of the warm-up and the end. */
  answered: number
  /** Utilisation of the load generator, from 0 to 1. At 1 it limits the rate. */
  busy: number
}

/** How long a job may exceed its time. */
const GRACE_MILLISECONDS = 5_000
const READ_BYTES = 256 * 1024

/**
 * Sends load to a server and counts the responses. Rejects on a wrong status, a malformed response or a closed connection.
 * Ends after the job's time, or on request.
 */
export function drive(job: Job, ended?: Promise<unknown>): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const run = new Run(job, resolve, reject)
    ended?.then(() => run.end())
    run.start()
  })
}

class Run {
  private readonly sockets: Socket[] = []
  private readonly next: () => Buffer
  private readonly latencies: number[] = []
  private readonly startAt = performance.now()
  private readonly countFrom: number
  private stopAt: number
  private readonly deadline: NodeJS.Timeout
  private busySince: ReturnType<typeof performance.eventLoopUtilization> | undefined
  private busy = 0
  private answered = 0
  private running: number
  private isOver = false

  constructor(
    private readonly job: Job,
    private readonly resolve: (result: LoadResult) => void,
    private readonly reject: (error: Error) => void,
  ) {
    this.next = requestsOf(job)
    this.running = job.connections
    this.countFrom = this.startAt + job.warmSeconds * 1000
    this.stopAt = this.countFrom + job.seconds * 1000
    const limit = this.stopAt - this.startAt + GRACE_MILLISECONDS
    this.deadline = setTimeout(() => this.fail('the server has stopped answering'), limit)
  }

  start(): void {
    for (let i = 0; i < this.job.connections; i++) this.open()
  }

  end(): void {
    this.stopAt = Math.min(this.stopAt, Math.max(performance.now(), this.countFrom))
  }

  private open(): void {
    let sentAt = 0
    const send = () => {
      sentAt = performance.now()
      socket.write(this.next())
    }
    const count = countAnswers(this.job.status, () => {
      const now = performance.now()
      this.answered++
      if (now >= this.countFrom && now < this.stopAt) this.note(now - sentAt)
      if (now < this.stopAt) send()
      else this.finishOne(socket)
    })
    const onread = {
      buffer: Buffer.allocUnsafe(READ_BYTES),
      callback: (bytes: number, buffer: Uint8Array) => {
        const fault = count(buffer as Buffer, bytes)
        if (fault) this.fail(fault)
        return true
      },
    }
    const socket = connect({ host: '127.0.0.1', port: this.job.port, noDelay: true, onread })
    this.sockets.push(socket)
    socket.on('connect', send)
    socket.on('error', (error) => this.fail(error.message))
    socket.on('close', () => this.fail('the server closed a connection'))
  }

  private note(milliseconds: number): void {
    this.busySince ??= performance.eventLoopUtilization()
    this.latencies.push(milliseconds)
  }

  private finishOne(socket: Socket): void {
    if (this.busySince && this.busy === 0) this.busy = performance.eventLoopUtilization(this.busySince).utilization
    socket.removeAllListeners('close').destroy()
    if (--this.running > 0 || this.isOver) return
    this.isOver = true
    clearTimeout(this.deadline)
    const sorted = Float64Array.from(this.latencies).sort()
    this.resolve({
      requestsPerSecond: (sorted.length / (this.stopAt - this.countFrom)) * 1000,
      p50Milliseconds: sorted[Math.floor(sorted.length * 0.5)] ?? Number.NaN,
      p99Milliseconds: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
      answered: this.answered,
      busy: this.busy,
    })
  }

  private fail(reason: string): void {
    if (this.isOver) return
    this.isOver = true
    clearTimeout(this.deadline)
    for (const socket of this.sockets) socket.destroy()
    this.reject(new Error(`load on port ${this.job.port}: ${reason}`))
  }
}

/**
 * Parses responses from the chunks of one connection and calls back at the end of each. Returns what is wrong with a
 * response.
 */
export function countAnswers(
  status: number,
  onAnswer: () => void,
): (bytes: Buffer, length: number) => string | undefined {
  let head = ''
  let bodyBytesLeft = 0
  return (buffer, length) => {
    let at = 0
    while (at < length) {
      if (bodyBytesLeft > 0) {
        const taken = Math.min(bodyBytesLeft, length - at)
        bodyBytesLeft -= taken
        at += taken
        if (bodyBytesLeft === 0) onAnswer()
        continue
      }
      const known = head.length
      head += buffer.toString('latin1', at, Math.min(length, at + MAX_HEAD_BYTES))
      const end = head.indexOf('\r\n\r\n')
      if (end < 0 && head.length >= MAX_HEAD_BYTES) return 'the head of an answer does not end'
      if (end < 0) return undefined
      at += end + 4 - known
      if (Number(head.slice(9, 12)) !== status) return `${head.slice(0, head.indexOf('\r\n'))} instead of ${status}`
      const contentLength = /\r\ncontent-length: *(\d+)/i.exec(head.slice(0, end))
      if (!contentLength && status !== 304 && status !== 204) return 'an answer has no Content-Length'
      head = ''
      bodyBytesLeft = Number(contentLength?.[1] ?? 0)
      if (bodyBytesLeft === 0) onAnswer()
    }
    return undefined
  }
}

const MAX_HEAD_BYTES = 4096

/** A repeated path is encoded once. Unique paths are encoded one by one, which costs far less than a response. */
function requestsOf({ path, headers, seed }: Job): () => Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const rest = ` HTTP/1.1\r\n${lines.join('')}\r\n`
  const makers = [path].flat().map((each) => requestMaker(each, rest, seed))
  let turn = 0
  return makers.length === 1 ? (makers[0] as () => Buffer) : () => (makers[turn++ % makers.length] as () => Buffer)()
}

function requestMaker(path: Path, rest: string, seed: number): () => Buffer {
  if (typeof path === 'string') {
    const request = Buffer.from(`GET ${path}${rest}`, 'latin1')
    return () => request
  }
  const nextPath = freshPaths(path, seed)
  return () => Buffer.from(`GET ${nextPath()}${rest}`, 'latin1')
}

/** The paths of a job in their order. */
export function freshPaths({ before, min, max, after }: FreshPaths, seed: number): () => string {
  const random = randomFrom(seed)
  let serial = seed
  return () => `${before}${min + Math.floor(random() * (max - min + 1))}${after}${serial++}`
}

if (process.send && process.argv[1] === import.meta.filename) {
  let end = () => {}
  process.on('disconnect', () => process.exit())
  process.on('message', (job: Job | 'end') => {
    if (job === 'end') return end()
    const ended = new Promise<void>((resolve) => (end = resolve))
    drive(job, ended).then(
      (result) => process.send?.({ result }),
      (error: Error) => process.send?.({ fault: error.message }),
    )
  })
}
