import { closeSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { headersWith } from './client.js'
import type { Database } from './databases.js'
import { writeDump } from './generate.js'
import { type Ended, freePort, runToEnd, type Started, startServer, type Variables } from './processes.js'
import { Solves } from './solves.js'

/** A filled store with a key for reading and one for writing, and the cost of filling it. */
export interface Portal {
  database: Database
  authors: number
  key: string
  writeKey: string
  solves: Solves
  facts: PortalFacts
}

export interface PortalFacts {
  lines: number
  importLinesPerSecond: number
  exportLinesPerSecond: number
  diskBytes: number
  /** Peak memory of the import process, if the system reports it. */
  importPeakBytes: number | undefined
}

/** A portal and a server that serves it. */
export interface Served extends Started {
  portal: Portal
}

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname

const LOGIN = 'bench'
const PASSWORD = 'not a secret, for the bench alone'
const SHORT_SECONDS = 60
/** The lowest acceptable rate of import and export. */
const BULK_LINES_PER_SECOND = 5_000
const LINES_PER_AUTHOR = 8
const QUOTA = '1000000000'

/** Fills a store with the built program, as an operator would. The rates include the start of the process. */
export async function makePortal(
  folder: string,
  { database, authors, byDate }: { database: Database; authors: number; byDate: boolean },
): Promise<Portal> {
  const env = variablesOf(database.url)
  const dump = join(folder, `${authors}.ndjson`)
  const lines = await writeDump(dump, authors)
  const imported = await importDump(database.url, dump, bulkSeconds(authors))
  if (byDate) await runToEnd([MAIN, 'settings', 'set', 'departage', 'date'], bulkSeconds(authors), { env })
  const account = ['accounts', 'add', LOGIN, '--id-auteur', '1', '--operator', '--password-stdin']
  await runToEnd([MAIN, ...account], SHORT_SECONDS, { env, input: PASSWORD })
  const makeKey = async (...scope: string[]) => {
    const made = await runToEnd([MAIN, 'keys', 'create', LOGIN, '--quiet', ...scope], SHORT_SECONDS, { env })
    return made.output.trim()
  }
  const keys = { key: await makeKey(), writeKey: await makeKey('--scope', 'ecriture') }
  const exported = await exportTo(dump, database, bulkSeconds(authors))
  rmSync(dump)
  const facts = {
    lines,
    importLinesPerSecond: lines / imported.seconds,
    exportLinesPerSecond: lines / exported.seconds,
    diskBytes: await database.diskBytes(),
    importPeakBytes: imported.peakBytes,
  }
  return { database, authors, ...keys, solves: new Solves(authors), facts }
}

/** Time limit of an import or export. */
export function bulkSeconds(authors: number): number {
  return 60 + (authors * LINES_PER_AUTHOR) / BULK_LINES_PER_SECOND
}

export function importDump(url: string, dump: string, seconds: number): Promise<Ended> {
  return runToEnd([MAIN, 'import', dump], seconds, { env: variablesOf(url) })
}

/** Creates an empty store. */
export function migrateStore(url: string): Promise<Ended> {
  return runToEnd([MAIN, 'migrate'], SHORT_SECONDS, { env: variablesOf(url) })
}

/**
 * Serves a portal with authentication, limits (too high to be reached), metrics and the log at `warn`. Resolves once it
 * has answered `path`.
 */
export async function servePortal(portal: Portal, workers: number, path = '/health/ready'): Promise<Served> {
  const port = await freePort()
  const metricsPort = await freePort()
  const options = ['--workers', String(workers), '--port', String(port), '--metrics-port', String(metricsPort)]
  const limits = ['--rate-limit', QUOTA, '--address-rate-limit', QUOTA, '--log-level', 'warn']
  const probe = { path, headers: headersWith(portal.key) }
  const env = variablesOf(portal.database.url)
  return { ...(await startServer([MAIN, 'serve', ...options, ...limits], env, port, probe)), portal }
}

/** Passes the store in a variable, because its URL may contain a password, which arguments would expose. */
function variablesOf(url: string): Variables {
  return { PALMARES_DATABASE: url }
}

async function exportTo(file: string, database: Database, seconds: number): Promise<Ended> {
  const stdout = openSync(file, 'w')
  try {
    return await runToEnd([MAIN, 'export'], seconds, { env: variablesOf(database.url), stdout })
  } finally {
    closeSync(stdout)
  }
}
