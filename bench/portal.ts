import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from './databases.js'
import { writeDump } from './generate.js'
import { type Ended, freePort, runToEnd, type Started, startServer, type Variables } from './processes.js'

/** A filled store with someone who may read it, and what filling it took. */
export interface Portal {
  database: Database
  key: string
  facts: PortalFacts
}

export interface PortalFacts {
  lines: number
  importLinesPerSecond: number
  exportLinesPerSecond: number
  diskBytes: number
  /** The most that the process of the import held in memory, where the system tells it. */
  importPeakBytes: number | undefined
}

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname

const LOGIN = 'bench'
const PASSWORD = 'not a secret, for the bench alone'
const SHORT_SECONDS = 60
const QUOTA = '1000000000'

/** Fills a store with the built program, as an operator would. The rates hold the start of the process. */
export async function makePortal(
  folder: string,
  database: Database,
  authors: number,
  bulkSeconds: number,
): Promise<Portal> {
  const env = variablesOf(database)
  const dump = join(folder, `${authors}.ndjson`)
  const lines = await writeDump(dump, authors)
  const imported = await runToEnd([MAIN, 'import', dump], bulkSeconds, { env })
  const account = ['accounts', 'add', LOGIN, '--id-auteur', '1', '--password-stdin']
  await runToEnd([MAIN, ...account], SHORT_SECONDS, { env, input: PASSWORD })
  const { output } = await runToEnd([MAIN, 'keys', 'create', LOGIN, '--quiet'], SHORT_SECONDS, { env })
  const exported = await exportTo(join(folder, 'export.ndjson'), database, bulkSeconds)
  const facts = {
    lines,
    importLinesPerSecond: lines / imported.seconds,
    exportLinesPerSecond: lines / exported.seconds,
    diskBytes: await database.diskBytes(),
    importPeakBytes: imported.peakBytes,
  }
  return { database, key: output.trim(), facts }
}

/** Serves a portal with every guard on: credentials, limits that never bite, metrics, the log at `warn`. */
export async function servePortal({ database }: Portal, workers: number): Promise<Started> {
  const port = await freePort()
  const metricsPort = await freePort()
  const options = ['--workers', String(workers), '--port', String(port), '--metrics-port', String(metricsPort)]
  const limits = ['--rate-limit', QUOTA, '--address-rate-limit', QUOTA, '--log-level', 'warn']
  return startServer([MAIN, 'serve', ...options, ...limits], variablesOf(database), port, '/health/ready')
}

/** The store is named by a variable, as its address may hold a password, which arguments would show. */
function variablesOf({ url }: Database): Variables {
  return { PALMARES_DATABASE: url }
}

async function exportTo(file: string, database: Database, seconds: number): Promise<Ended> {
  const stdout = openSync(file, 'w')
  try {
    return await runToEnd([MAIN, 'export'], seconds, { env: variablesOf(database), stdout })
  } finally {
    closeSync(stdout)
  }
}
