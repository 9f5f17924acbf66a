import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { FromWorker } from './worker.js'

/** A worker that served for less time, or never, counts as failing: its replacement waits longer. */
const YOUNG_MILLISECONDS = 5_000
const FIRST_PAUSE_MILLISECONDS = 100
const MAX_PAUSE_MILLISECONDS = 5_000
/** A worker stops by itself within 9 s; one that hangs is killed then. */
const STOP_DEADLINE_MILLISECONDS = 9_500

/** A worker ended before it served. */
export class StartError extends Error {
  constructor(readonly end: End) {
    super(`a worker ended before it served (${end.reason})`)
  }
}

/** How a worker ended. */
export interface End {
  reason: string
  /** Undefined if it was ended from outside. */
  status: number | undefined
}

/** Receives the messages and the ends of workers. */
export interface Listener {
  heard(worker: Worker, message: FromWorker): void
  ended(worker: Worker): void
}

/** Keeps a number of workers alive: each one that ends is replaced, until a stop. */
export class Workers {
  private readonly ends = new Map<Worker, Promise<End>>()
  private readonly stopping = new AbortController()
  /** Those that serve. */
  readonly serving = new Set<Worker>()

  constructor(
    private readonly listener: Listener,
    private readonly log: Logger,
  ) {}

  /** Starts one worker, and the others when it serves, so that a fault is reported once. Resolves with their address. */
  async start(count: number): Promise<string> {
    const address = await this.startOne()
    // A stop in the meantime has signalled the workers that existed.
    if (this.stopping.signal.aborted) return address
    await Promise.all(Array.from({ length: count - 1 }, () => this.startOne()))
    return address
  }

  /** Stops all gracefully. */
  async stop(): Promise<void> {
    const timer = setTimeout(() => this.signal('SIGKILL'), STOP_DEADLINE_MILLISECONDS)
    await this.endAll('SIGTERM')
    clearTimeout(timer)
  }

  /** Kills all. */
  end(): Promise<void> {
    return this.endAll('SIGKILL')
  }

  private async endAll(signal: NodeJS.Signals): Promise<void> {
    this.stopping.abort()
    this.signal(signal)
    await Promise.all(this.ends.values())
  }

  private signal(signal: NodeJS.Signals): void {
    for (const worker of this.ends.keys()) worker.process.kill(signal)
  }

  private startOne(): Promise<string> {
    return new Promise((resolve, reject) => {
      const failed = (end: End) => reject(new StartError(end))
      void this.keep(resolve, failed)
    })
  }

  /** Runs a worker, and another one each time one ends. The first one must serve. */
  private async keep(served: (address: string) => void, failed: (end: End) => void): Promise<void> {
    let youngEnds = 0
    for (let isFirst = true; ; isFirst = false) {
      let servedAt: number | undefined
      const { end, pid } = await this.run((address) => {
        servedAt = Date.now()
        served(address)
      })
      if (isFirst && servedAt === undefined) return failed(end)
      if (this.stopping.signal.aborted) return
      const isYoung = servedAt === undefined || Date.now() - servedAt < YOUNG_MILLISECONDS
      youngEnds = isYoung ? youngEnds + 1 : 0
      const pause = pauseAfter(youngEnds)
      this.log.error({ worker: pid, reason: end.reason, pause_ms: pause }, 'worker ended; starting a replacement')
      await sleep(pause, undefined, { signal: this.stopping.signal }).catch(() => undefined)
      if (this.stopping.signal.aborted) return
    }
  }

  /** Runs one worker to its end. */
  private async run(served: (address: string) => void): Promise<{ end: End; pid?: number | undefined }> {
    const worker = tryFork()
    if (worker instanceof Error) return { end: { reason: worker.message, status: undefined } }
    closeLostConnection(worker)
    worker.on('message', (message: FromWorker) => {
      if (message.kind !== 'serving') return this.listener.heard(worker, message)
      this.serving.add(worker)
      served(message.address)
    })
    const ended = endOf(worker)
    this.ends.set(worker, ended)
    const end = await ended
    this.ends.delete(worker)
    this.serving.delete(worker)
    this.listener.ended(worker)
    return { end, pid: worker.process.pid }
  }
}

/** The first replacement starts immediately, further ones later and later. */
function pauseAfter(youngEnds: number): number {
  if (youngEnds < 2) return 0
  return Math.min(MAX_PAUSE_MILLISECONDS, FIRST_PAUSE_MILLISECONDS * 2 ** (youngEnds - 2))
}

function tryFork(): Worker | Error {
  try {
    return cluster.fork()
  } catch (error) {
    return error as Error
  }
}

function endOf(worker: Worker): Promise<End> {
  return new Promise((resolve) => {
    worker.on('exit', (code: number | null, signal: string | null) => {
      resolve({ reason: signal ?? `exit status ${code}`, status: code ?? undefined })
    })
    // A message to a worker that just ended causes an error here; its end is reported separately.
    worker.on('error', (error: Error) => {
      if (worker.process.pid === undefined) resolve({ reason: error.message, status: undefined })
    })
  })
}

/**
 * `cluster` hands over connections one by one, and keeps a connection open until the worker confirms it. If the worker crashes
 * before that, the client would wait for ever, so the connection is closed.
 */
function closeLostConnection(worker: Worker): void {
  const send = worker.process.send?.bind(worker.process) as ((...args: unknown[]) => boolean) | undefined
  // Without a free file descriptor there is no process, and no channel to one.
  if (!send) return
  let handedOver: { close?(): void } | undefined
  worker.process.send = (message: unknown, handle?: unknown, ...rest: unknown[]) => {
    if (handle) handedOver = handle
    return send(message, handle, ...rest)
  }
  worker.on('exit', (code: number | null) => {
    if (code !== 0) handedOver?.close?.()
  })
}
