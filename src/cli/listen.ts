import type { Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { type Logger, pino, stdTimeFunctions } from 'pino'
import { type AppSettings, buildApp } from '../app.js'
import type { ServeOptions } from '../config.js'
import { listenMetrics, Metrics } from '../http/metrics.js'
import type { Store } from '../store/store.js'
import { CommandError } from './output.js'

/** A stop waits so long for running requests, then ends their connections and closes the store. */
const STOP_PATIENCE_MILLISECONDS = 8_000
/** Whatever still waits then, the process is gone within 10 s of the signal. */
const STOP_DEADLINE_MILLISECONDS = 9_000

export interface Listening {
  /** The address that it listens on. */
  address: string
  /** Resolves when a signal has stopped it and everything is closed. */
  stopped: Promise<void>
}

/** Serves a store until SIGTERM or SIGINT; the caller closes the store. */
export async function listen(store: Store, settings: AppSettings, options: ServeOptions): Promise<Listening> {
  const log = makeLog(options.logLevel)
  const metrics = new Metrics()
  const app = buildApp({ store, settings, metrics, log })
  const address = await listenOn(app, options)
  const metricsServer = options.metricsPort > 0 ? await listenOnMetrics(app, metrics, options.metricsPort) : undefined
  if (metricsServer) log.info(`metrics on http://127.0.0.1:${options.metricsPort}/metrics`)

  const stopped = nextSignal().then(async (signal) => {
    log.info({ signal }, 'stopping')
    setTimeout(() => app.server.closeAllConnections(), STOP_PATIENCE_MILLISECONDS).unref()
    setTimeout(() => endNow(log), STOP_DEADLINE_MILLISECONDS).unref()
    await app.close()
    metricsServer?.close().closeAllConnections()
    log.info('stopped')
    log.flush()
  })
  return { address, stopped }
}

/** The caller may still wait for a client or for the store's lock; neither needs care, as after a crash. */
function endNow(log: Logger): void {
  log.warn('stopped before everything had ended')
  process.exit(0)
}

/** JSON lines on standard error: levels by name, times as the wire has them. */
function makeLog(level: string): Logger {
  const formatters = { level: (label: string) => ({ level: label }) }
  return pino(
    { level, base: null, formatters, timestamp: stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: false }),
  )
}

async function listenOn(app: FastifyInstance, { host, port }: ServeOptions): Promise<string> {
  try {
    return await app.listen({ host, port, listenTextResolver: (address) => `listening on ${address}` })
  } catch (error) {
    await app.close()
    throw listenError(error, host, port, '--port')
  }
}

async function listenOnMetrics(app: FastifyInstance, metrics: Metrics, port: number): Promise<Server> {
  try {
    return await listenMetrics(metrics, port)
  } catch (error) {
    await app.close()
    throw listenError(error, '127.0.0.1', port, '--metrics-port')
  }
}

function listenError(error: unknown, host: string, port: number, flag: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') return new CommandError(`port ${port} is in use on ${host}; give another with ${flag}`)
  if (code === 'EACCES') return new CommandError(`this user may not listen on port ${port}; give another with ${flag}`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new CommandError(`${host} is not an address of this machine`)
  return error
}

/** The first signal stops gracefully; the second ends the process at once, as usual. */
function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const signals = ['SIGTERM', 'SIGINT'] as const
    const once = (signal: NodeJS.Signals) => {
      for (const each of signals) process.removeListener(each, once)
      resolve(signal)
    }
    for (const each of signals) process.on(each, once)
  })
}
