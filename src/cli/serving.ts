import type { Server } from 'node:http'
import { createServer } from 'node:net'
import { type Logger, pino, stdTimeFunctions } from 'pino'
import { CommandError } from '../forms.js'
import { listenMetrics, type MetricsSource } from '../http/metrics.js'

/** A write of so many bytes to a pipe is never mixed with that of another process (PIPE_BUF). */
const UNMIXED_BYTES = 4_096
/** A process that is being replaced may have the port for some seconds. */
const METRICS_RETRY_MILLISECONDS = 2_000

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

/** Metrics are optional: without their port the server starts, and retries until the port is free. */
export async function serveMetrics(source: MetricsSource, port: number, log: Logger): Promise<{ close(): void }> {
  let server: Server | undefined
  let retry: NodeJS.Timeout | undefined
  let isClosed = port === 0
  const open = async (isFirst: boolean) => {
    try {
      server = await listenMetrics(source, port)
      if (isClosed) server.close()
      else log.info(`metrics on http://127.0.0.1:${port}/metrics`)
    } catch (error) {
      if (isFirst) log.warn(`no metrics: ${messageOf(listenError(error, '127.0.0.1', port, '--metrics-port'))}`)
      if (!isClosed) retry = setTimeout(open, METRICS_RETRY_MILLISECONDS, false).unref()
    }
  }
  if (!isClosed) await open(true)
  return {
    close() {
      isClosed = true
      clearTimeout(retry)
      server?.close().closeAllConnections()
    },
  }
}

/** The port itself, or a free one for 0; throws a line for the operator where nothing can listen on it. */
export async function claimPort(host: string, port: number, flag = '--port'): Promise<number> {
  const server = createServer()
  const claimed = await new Promise<number>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port, flag)))
    server.listen(port, host, () => resolve((server.address() as { port: number }).port))
  })
  await new Promise((resolve) => server.close(resolve))
  return claimed
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
