import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { type AppDeps, buildApp } from '../app.js'
import type { ServerOptions } from '../config.js'
import { Metrics } from '../http/metrics.js'
import { trafficAlone } from '../http/traffic.js'
import type { Limits } from '../limits/limits.js'
import { LocalLimits } from '../limits/local.js'
import type { Store } from '../store/store.js'
import { listenError, nextSignal, serveMetrics } from './serving.js'

/** How long a stop waits for running requests before it closes their connections. */
const STOP_PATIENCE_MILLISECONDS = 8_000
/** When a stop ends the process in any case, so that it is gone within 10 s of the signal. */
const STOP_DEADLINE_MILLISECONDS = 9_000
/** Time for a short statement of a thread to end, and for the last line of the log to be written. */
const LAST_STATEMENT_MILLISECONDS = 300
/** A writer that waits for the lock retries, and is idle in between. */
const IDLE_CHECK_MILLISECONDS = 4

export interface Listening {
  /** The address that it listens on. */
  address: string
  /** Resolves when a signal has stopped it and everything is closed. */
  stopped: Promise<void>
}

/** Serves a store until SIGTERM or SIGINT; the caller closes the store. */
export async function listen(store: Store, options: ServerOptions, log: Logger): Promise<Listening> {
  const metrics = new Metrics()
  const limits = await openLimits(options, new LocalLimits(), log)
  const observe = () => trafficAlone(metrics)
  const app = buildApp({ store, options, metrics, observe, limits, log })
  const address = await listenOn(app, options, 'listening')
  const metricsServer = await serveMetrics(metrics.registry, options.metricsPort, log)
  const stopped = nextSignal().then(async (signal) => {
    await stopApp(app, store, log, signal)
    metricsServer.close()
  })
  return { address, stopped }
}

/** The limits that nodes share if a server for them is given, else `own`. */
export async function openLimits({ limits }: ServerOptions, own: Limits, log: AppDeps['log']): Promise<Limits> {
  if (limits === undefined) return own
  const { openRedisLimits } = await import('../limits/redis.js')
  return openRedisLimits(limits, own, log)
}

/** The backlog has the size of `maxConnections`; the kernel has its own limit. */
export async function listenOn(app: FastifyInstance, options: ServerOptions, verb: string): Promise<string> {
  const { host, port, maxConnections: backlog } = options
  try {
    return await app.listen({ host, port, backlog, listenTextResolver: (address) => `${verb} on ${address}` })
  } catch (error) {
    await app.close()
    throw listenError(error, host, port, '--port')
  }
}

/** Finishes running requests and closes, within the time of a stop. */
export async function stopApp(app: FastifyInstance, store: Store, log: Logger, signal: string): Promise<void> {
  log.info({ signal }, 'stopping')
  setTimeout(() => app.server.closeAllConnections(), STOP_PATIENCE_MILLISECONDS).unref()
  setTimeout(() => endNow(store, log), STOP_DEADLINE_MILLISECONDS).unref()
  await app.close()
  log.info('stopped')
  log.flush()
}

/**
 * Exits although requests may still be running; like a crash, this needs no cleanup. If a thread is still executing a
 * statement, the SQLite driver would abort the process; so the process ends itself with a stop signal instead.
 */
function endNow(store: Store, log: Logger): void {
  log.warn('stopped with requests still running')
  const deadline = Date.now() + LAST_STATEMENT_MILLISECONDS
  const end = () => {
    if (!store.state().isThreadBusy) process.exit(0)
    else if (Date.now() < deadline) setTimeout(end, IDLE_CHECK_MILLISECONDS)
    else {
      process.removeAllListeners('SIGTERM')
      process.kill(process.pid, 'SIGTERM')
    }
  }
  end()
}
