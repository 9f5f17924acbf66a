import cluster from 'node:cluster'
import type { Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { buildApp } from '../app.js'
import type { ServerSettings } from '../config.js'
import type { Trafic } from '../contract.js'
import { Metrics, type MetricValues } from '../http/metrics.js'
import { type LimitsAnswer, type LimitsQuestion, WorkerLimits } from '../limits/workers.js'
import type { Store } from '../store/store.js'
import { type Listening, listenOn, openLimits, stopApp } from './listen.js'
import { Observer } from './observer.js'
import { STOP_SIGNALS } from './serving.js'
import { type FromSibling, type ToSibling, WorkerSiblings } from './siblings.js'

/** How often new counts are sent to the supervisor. A worker that crashes loses those since the last time. */
const REPORT_INTERVAL_MILLISECONDS = 1_000

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
  const siblings = new WorkerSiblings(tell, log)
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'versions') siblings.heard(message)
  })
  return siblings
}

/** Serves a store beside other workers, until a signal or the end of the supervisor; the caller closes the store. */
export async function work(store: Store, settings: ServerSettings, log: Logger): Promise<Pick<Listening, 'stopped'>> {
  // A message that is too late for the supervisor must not fail this process.
  cluster.worker?.on('error', () => undefined)
  const metrics = new Metrics()
  const shared = new WorkerLimits(tell, log)
  const limits = await openLimits(settings, shared, log)
  const observer = new Observer((question) => tell({ kind: 'observe', question }))
  const observe = () => observer.observe()
  const app = buildApp({ store, settings, metrics, observe, limits, log })
  closeBeyond(app.server, Math.ceil(settings.maxConnections / settings.workers))
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'metrics') void tellMetrics(metrics)
    else if (message.kind === 'traffic') observer.heard(message.question, message.traffic)
    else if (message.kind === 'budgets') shared.heard(message)
  })
  const address = await listenOn(app, settings, 'worker serves')
  const reports = setInterval(() => void tellGrowth(metrics), REPORT_INTERVAL_MILLISECONDS)
  const stopped = toldToStop().then(async (signal) => {
    await sleep(HANDOVER_MILLISECONDS)
    await stopApp(app, store, log, signal)
    clearInterval(reports)
    await tellMetrics(metrics)
  })
  tell({ kind: 'serving', address })
  return { stopped }
}

/** Disconnects from the supervisor, which would otherwise keep the process alive. */
export function leave(): void {
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true
  if (process.connected) process.disconnect()
}

/** Sends a message to the supervisor; resolves when it is sent, or cannot be. */
function tell(message: FromWorker): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => resolve())
    else resolve()
  })
}

async function tellMetrics(metrics: Metrics): Promise<void> {
  await tell({ kind: 'metrics', metrics: await metrics.registry.getMetricsAsJSON(), isWhole: true })
}

async function tellGrowth(metrics: Metrics): Promise<void> {
  const grown = await metrics.grown()
  if (grown) await tell({ kind: 'metrics', metrics: grown, isWhole: false })
}

/**
 * Resolves at the first stop signal and ignores later ones, because only the supervisor may end a worker immediately. Without a
 * supervisor, `cluster` would exit in the middle of requests; `exitedAfterDisconnect` prevents that.
 */
function toldToStop(): Promise<string> {
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
