import cluster, { type Worker } from 'node:cluster'
import type { Logger } from 'pino'
import type { ServerOptions } from '../config.js'
import { CommandError } from '../forms.js'
import { MetricsSum } from '../http/metrics-sum.js'
import { trafficOf } from '../http/traffic.js'
import { LocalLimits } from '../limits/local.js'
import { answer } from '../limits/workers.js'
import { claimPort, nextSignal, serveMetrics } from './serving.js'
import { VersionRelay } from './siblings.js'
import type { FromWorker, ToWorker } from './worker.js'
import { StartError, Workers } from './workers.js'

/** Runs workers until SIGTERM or SIGINT, counts limits for them and sums up their metrics. */
export async function supervise(options: ServerOptions, log: Logger): Promise<void> {
  const limits = new LocalLimits()
  const sum = new MetricsSum<Worker>((worker) => say(worker, { kind: 'metrics' }))
  const versions = new VersionRelay<Worker>(say)
  const heard = (worker: Worker, message: FromWorker) => {
    if (message.kind === 'versions') versions.heard(worker, message)
    else if (message.kind === 'limits') say(worker, answer(limits, message))
    else if (message.kind === 'metrics') sum.heard(worker, message.metrics, message.isWhole)
    else if (message.kind === 'observe')
      sendTraffic(worker, message.question).catch((error) =>
        log.error({ err: error }, "cannot sum up the workers' metrics"),
      )
  }
  const sendTraffic = async (worker: Worker, question: number) => {
    const metrics = await (await sum.sum(workers.serving)).getMetricsAsJSON()
    say(worker, { kind: 'traffic', question, traffic: trafficOf(metrics, workers.serving.size) })
  }
  const ended = (worker: Worker) => {
    sum.ended(worker)
    versions.ended(worker)
  }
  const workers = new Workers({ heard, ended }, log)
  await settleOnPort(options)
  const metricsServer = await serveMetrics(sum.source(workers.serving), options.metricsPort, log)
  try {
    await runUntilSignal(workers, options.workers, log)
  } catch (error) {
    await workers.end()
    throw toCommandError(error)
  } finally {
    metricsServer.close()
  }
}

async function runUntilSignal(workers: Workers, count: number, log: Logger): Promise<void> {
  const signalled = nextSignal()
  const address = await Promise.race([workers.start(count), signalled.then(() => undefined)])
  if (address !== undefined) log.info({ workers: count }, `listening on ${address}`)
  log.info({ signal: await signalled }, 'stopping')
  void nextSignal().then(async (signal) => {
    await workers.end()
    process.kill(process.pid, signal)
  })
  await workers.stop()
  log.info('stopped')
  log.flush()
}

/** A free port is chosen once, because replacement workers must use the same one. */
async function settleOnPort({ host, port }: ServerOptions): Promise<void> {
  if (port !== 0) return
  const free = await claimPort(host, port)
  cluster.setupPrimary({ args: [...process.argv.slice(2), '--port', String(free)] })
}

/** A worker may have ended before the supervisor knows; its end is reported separately. */
function say(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => undefined)
}

/** A worker that ended by itself has logged why. */
function toCommandError(error: unknown): unknown {
  if (!(error instanceof StartError)) return error
  if (error.end.status !== undefined) process.exit(error.end.status || 1)
  return new CommandError(error.message)
}
