import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { writeDump } from './generate.js'
import { freePort, runToEnd, type Started, startServer } from './processes.js'

/** The engines that a portal can be kept in. One more needs its address here, and a hand-written server of its own. */
export const ENGINES = ['sqlite'] as const
export type Engine = (typeof ENGINES)[number]

/** A filled store with someone who may read it, and what filling it took. */
export interface Portal {
  database: string
  /** Where the hand-written server finds the same rows. */
  file: string
  key: string
  lines: number
  importLinesPerSecond: number
  exportLinesPerSecond: number
}

const MAIN = new URL('../dist/main.js', import.meta.url).pathname

const LOGIN = 'bench'
const PASSWORD = 'not a secret, for the bench alone'
const SHORT_SECONDS = 60
const QUOTA = '1000000000'

/** Fills a store with the built program, as an operator would. The rates hold the start of the process. */
export async function makePortal(
  folder: string,
  engine: Engine,
  authors: number,
  bulkSeconds: number,
): Promise<Portal> {
  const dump = join(folder, `${authors}.ndjson`)
  const file = join(folder, `${authors}.db`)
  const database = `${engine}:${file}`
  const lines = await writeDump(dump, authors)
  const importSeconds = await timed(() => runToEnd([MAIN, 'import', '--database', database, dump], bulkSeconds))
  const account = ['accounts', 'add', LOGIN, '--id-auteur', '1', '--password-stdin', '--database', database]
  await runToEnd([MAIN, ...account], SHORT_SECONDS, PASSWORD)
  const key = await runToEnd([MAIN, 'keys', 'create', LOGIN, '--quiet', '--database', database], SHORT_SECONDS)
  const exportSeconds = await timed(() => exportTo(join(folder, 'export.ndjson'), database, bulkSeconds))
  return {
    database,
    file,
    key: key.trim(),
    lines,
    importLinesPerSecond: lines / importSeconds,
    exportLinesPerSecond: lines / exportSeconds,
  }
}

/** Serves a portal with every guard on: credentials, limits that never bite, metrics, the log at `warn`. */
export async function servePortal({ database }: Portal): Promise<Started> {
  const port = await freePort()
  const metricsPort = await freePort()
  const options = ['--database', database, '--port', String(port), '--metrics-port', String(metricsPort)]
  const limits = ['--rate-limit', QUOTA, '--address-rate-limit', QUOTA, '--log-level', 'warn']
  return startServer([MAIN, 'serve', ...options, ...limits], port, '/health/ready')
}

async function exportTo(file: string, database: string, seconds: number): Promise<void> {
  const target = openSync(file, 'w')
  try {
    await runToEnd([MAIN, 'export', '--database', database], seconds, '', target)
  } finally {
    closeSync(target)
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}
