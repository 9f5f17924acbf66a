import cluster from 'node:cluster'
import { on } from 'node:events'
import type { Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { buildApp } from '../app.js'
import type { ServerOptions } from '../config.js'
import { Problem } from '../errors.js'
import type { Trafic } from '../exploitation/contract.js'
import { Metrics, type MetricValues } from '../http/metrics.js'
import { type LimitsAnswer, type LimitsQuestion, WorkerLimits } from '../limits/workers.js'
import { SharedRun } from '../shared-run.js'
import type { Store } from '../store/store.js'
import { type Listening, listenOn, openLimits, stopApp } from './listen.js'
import { STOP_SIGNALS } from './serving.js'
import { type FromSibling, type ToSibling, WorkerSiblings } from './siblings.js'

/** How often new counts are sent to the supervisor. A worker that crashes loses those since the last time. */
const REPORT_INTERVAL_MILLISECONDS = 1_000

/** A supervisor that takes longer is assumed to hang. It waits 2 s itself for a worker that hangs. */
const TRAFFIC_TIMEOUT_MILLISECONDS = 3_000

/** How long a worker continues to serve after a signal: connections that the supervisor accepted before are still arriving. */
const HANDOVER_MILLISECONDS = 100

/** Messages of a worker to its supervisor. */
export type FromWorker =
  | { kind: 'serving'; address: string }
  | { kind: 'metrics'; metrics: MetricValues; isWhole: boolean }
  | { kind: 'observe'; question: number }
  | LimitsQuestion
  | FromSibling

/** Messages of the supervisor to a worker. */
export type ToWorker =
  | { kind: 'metrics' }
  | { kind: 'traffic'; question: number; traffic: Trafic }
  | LimitsAnswer
  | ToSibling

/** The other workers, for the store of this one. */
export function makeSiblings(log: Logger): WorkerSiblings {
  const siblings = new WorkerSiblings(send, log)
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'versions') siblings.heard(message)
  })
  return siblings
}

/** Serves a store beside other workers, until a signal or the end of the supervisor; the caller closes the store. */
export async function work(store: Store, options: ServerOptions, log: Logger): Promise<Pick<Listening, 'stopped'>> {
  // A message that is too late for the supervisor must not fail this process.
  cluster.worker?.on('error', () => undefined)
  const metrics = new Metrics()
  const shared = new WorkerLimits(send, log)
  const traffic = new SharedRun(askTraffic)
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'metrics') void sendMetrics(metrics)
    else if (message.kind === 'budgets') shared.heard(message)
  })
  await shared.start()
  const limits = await openLimits(options, shared, log)
  const observe = () => traffic.current()
  const app = buildApp({ store, options, metrics, observe, limits, log })
  closeBeyond(app.server, Math.ceil(options.maxConnections / options.workers))
  const address = await listenOn(app, options, 'worker serves')
  const reports = setInterval(() => sendGrowth(metrics), REPORT_INTERVAL_MILLISECONDS)
  const stopped = stopSignal().then(async (signal) => {
    await sleep(HANDOVER_MILLISECONDS)
    await stopApp(app, store, log, signal)
    clearInterval(reports)
    await sendMetrics(metrics)
  })
  send({ kind: 'serving', address })
  return { stopped }
}

/** Disconnects from the supervisor, which would otherwise keep the process alive. */
export function leave(): void {
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true
  if (process.connected) process.disconnect()
}

/** Sends a message to the supervisor; resolves when it is sent, or cannot be. */
function send(message: FromWorker): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => resolve())
    else resolve()
  })
}

let questions = 0

/** What all workers have counted, as the supervisor knows it. Throws `overloaded` if it does not answer. */
async function askTraffic(): Promise<Trafic> {
  const question = ++questions
  const messages = on(process, 'message', { signal: AbortSignal.timeout(TRAFFIC_TIMEOUT_MILLISECONDS) })
  void send({ kind: 'observe', question })
  try {
    for await (const [message] of messages as AsyncIterable<[ToWorker]>) {
      // A late answer is to an earlier question, which nobody asks any longer.
      if (message.kind === 'traffic' && message.question === question) return message.traffic
    }
  } catch {
    // The time is up.
  }
  throw new Problem('overloaded')
}

async function sendMetrics(metrics: Metrics): Promise<void> {
  await send({ kind: 'metrics', metrics: await metrics.registry.getMetricsAsJSON(), isWhole: true })
}

function sendGrowth(metrics: Metrics): void {
  const grown = metrics.grown()
  if (grown) void send({ kind: 'metrics', metrics: grown, isWhole: false })
}

/**
 * Resolves at the first stop signal and ignores later ones, because only the supervisor may end a worker immediately. Without a
 * supervisor, `cluster` would exit in the middle of requests; `exitedAfterDisconnect` prevents that.
 */
function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.on(signal, () => resolve(signal))
    cluster.worker?.once('disconnect', () => {
      if (cluster.worker) cluster.worker.exitedAfterDisconnect = true
      resolve('disconnect')
    })
  })
}

/**
 * Closes connections above a limit. With the server's own limit they would go back to the supervisor, which would try other
 * full workers in a loop.
 */
function closeBeyond(server: Server, maxConnections: number): void {
  let open = 0
  server.maxConnections = Number.POSITIVE_INFINITY
  server.prependListener('connection', (socket: Socket) => {
    open++
    socket.once('close', () => open--)
    if (open > maxConnections) socket.destroy()
  })
}
