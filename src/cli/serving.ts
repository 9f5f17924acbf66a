import type { Server } from 'node:http'
import { type Logger, pino, stdTimeFunctions } from 'pino'
import { listenMetrics, type MetricsSource } from '../http/metrics.js'
import { CommandError } from './output.js'

/** A write of so many bytes to a pipe is never mixed with that of another process (PIPE_BUF). */
const UNMIXED_BYTES = 4_096

/** JSON lines on standard error: levels by name, times as the wire has them, the process where there are several. */
export function makeLog(level: string, isOneOfMany = false): Logger {
  const formatters = { level: (label: string) => ({ level: label }) }
  const base = isOneOfMany ? { pid: process.pid } : null
  const destination = { dest: 2, sync: false, ...(isOneOfMany ? { maxWrite: UNMIXED_BYTES } : {}) }
  return pino({ level, base, formatters, timestamp: stdTimeFunctions.isoTime }, pino.destination(destination))
}

/** The first signal stops gracefully; the second ends the process at once, as usual. */
export function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const once = (signal: NodeJS.Signals) => {
      for (const each of STOP_SIGNALS) process.removeListener(each, once)
      resolve(signal)
    }
    for (const each of STOP_SIGNALS) process.on(each, once)
  })
}

export const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Serves the metrics where a port is given for them. */
export async function listenOnMetrics(source: MetricsSource, port: number, log: Logger): Promise<Server | undefined> {
  if (port === 0) return undefined
  try {
    const server = await listenMetrics(source, port)
    log.info(`metrics on http://127.0.0.1:${port}/metrics`)
    return server
  } catch (error) {
    throw listenError(error, '127.0.0.1', port, '--metrics-port')
  }
}

/** A line for the operator where the address is what is wrong. */
export function listenError(error: unknown, host: string, port: number, flag: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') return new CommandError(`port ${port} is in use on ${host}; give another with ${flag}`)
  if (code === 'EACCES') return new CommandError(`this user may not listen on port ${port}; give another with ${flag}`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new CommandError(`${host} is not an address of this machine`)
  return error
}
