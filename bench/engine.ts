import { measureImport, measureRankings, measureReadsDuringImport } from './bulk.js'
import { type Comparison, compare } from './compare.js'
import type { Databases, Engine } from './databases.js'
import { againstPeer, attempt, type Finding } from './findings.js'
import { KINDS } from './kinds.js'
import { residentBytes } from './memory.js'
import type { Options, Subject } from './options.js'
import { makePortal, type Portal, type Served, servePortal } from './portal.js'
import { type Load, type Started, startBaseline, stop } from './processes.js'
import { READ_KINDS } from './reads.js'
import type { EngineReport, PortalReport } from './report.js'
import { measureReads, type ReadRow } from './scale.js'
import { measureMemory, measureStart, measureWorkers } from './serving.js'
import { measureSolves } from './solves.js'
import { measureVisibility } from './visibility.js'

/** Shared by all measurements of a run. */
export interface Run {
  options: Options
  folder: string
  load: Load
  databases: Databases
  /** Reports progress. */
  say(text: string): void
}

/** All measurements on one engine. Writes come last, so that no read is measured on a changed store. */
export async function measureEngine(run: Run, engine: Engine): Promise<EngineReport> {
  const { options, databases, folder, say } = run
  const portals: Portal[] = []
  for (const authors of options.authors) {
    say(`${authors} authors, ${engine}: filling a store`)
    const database = await databases.make(engine, String(authors))
    portals.push(await makePortal(folder, { database, authors, byDate: options.byDate }))
  }
  const reports: PortalReport[] = []
  for (const portal of portals) reports.push(await measurePairs(run, portal))
  const page = reports[0]?.comparisons.find(({ kind }) => kind.name === 'classement')
  const findings = page ? [againstPeer(page.palmares.requestsPerSecond)] : []
  const reads = await measureScale(run, portals)
  findings.push(...(await measureServing(run, portals)))
  for (const portal of portals) {
    say(`${portal.authors} authors, ${engine}`)
    findings.push(...(await measureBulk(run, portal)))
    await portal.database.drop()
  }
  return { engine, workers: options.workers, portals: reports, reads, findings }
}

async function measurePairs({ options, load, say }: Run, portal: Portal): Promise<PortalReport> {
  const { pace, wants, workers } = options
  const { engine, address } = portal.database
  const servers = {
    palmares: await servePortal(portal, workers),
    bare: await startBaseline('bare'),
    handWritten: await startBaseline(engine, address),
  }
  const comparisons: Comparison[] = []
  for (const kind of KINDS.filter(({ name }) => wants(name))) {
    const found = await compare({ ...servers, load, authors: portal.authors, key: portal.key }, kind, pace)
    say(`${kind.name}: ${found.ratio.median.toFixed(2)} of ${kind.against}`)
    comparisons.push(found)
  }
  const servingBytes = residentBytes(servers.palmares.child.pid as number)
  await stopAll(Object.values(servers))
  return { authors: portal.authors, portal: portal.facts, servingBytes, comparisons }
}

/** Measures reads, alternating between the sizes. */
async function measureScale({ options, load, say }: Run, portals: Portal[]): Promise<ReadRow[]> {
  const kinds = READ_KINDS.filter(({ name }) => options.wants(name))
  const each = portals.map((portal) => ({ portal, workers: options.workers }))
  return withServers(kinds.length > 0 ? each : [], async (served) => {
    const reads: ReadRow[] = []
    for (const kind of kinds) {
      const rows = await measureReads(served, load, kind, options.pace)
      say(`${kind.name}: ${rows.map((row) => row.fault ?? `${row.p50Milliseconds.toFixed(2)} ms`).join(', ')}`)
      reads.push(...rows)
    }
    return reads
  })
}

/** Measures the subjects that alternate between all sizes, then those at the largest size only. */
function measureServing(run: Run, portals: Portal[]): Promise<Finding[]> {
  const { load } = run
  const { pace, workers } = run.options
  const portal = portals.at(-1) as Portal
  const one = { portal, workers: 1 }
  const each = portals.map((portal) => ({ portal, workers }))
  return measureSubjects(run, {
    solves: () => withServers(each, (served) => measureSolves(served, pace)),
    start: () => measureStart(portal, pace.starts),
    memory: () => withServers([one], ([served]) => measureMemory(served!, load, pace)),
    visibility: () => withServers([one, one], ([a, b]) => measureVisibility(portal, a!.port, b!.port, pace.looks)),
    workers: () => withServers([one, { portal, workers: 2 }], ([a, b]) => measureWorkers(a!, b!, load, pace)),
  })
}

function measureBulk(run: Run, portal: Portal): Promise<Finding[]> {
  const { load, folder, options } = run
  const { pace } = options
  const importReads = ([served]: Served[]) => measureReadsDuringImport(served!, load, folder, pace)
  return measureSubjects(run, {
    // The bare loop only supports SQLite.
    ...(portal.database.engine === 'sqlite' && { import: () => measureImport(portal, folder, pace) }),
    'import-reads': () => withServers([{ portal, workers: 1 }], importReads),
    rankings: () => measureRankings(portal),
  })
}

/** Measures the selected subjects, one after the other. */
async function measureSubjects(
  { options, say }: Run,
  works: Partial<Record<Subject, () => Promise<Finding[]>>>,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [subject, work] of Object.entries(works)) {
    if (!options.wants(subject)) continue
    say(subject)
    findings.push(...(await attempt(subject, work)))
  }
  return findings
}

/** Serves portals during a measurement. */
async function withServers<T>(
  wanted: readonly { portal: Portal; workers: number }[],
  work: (served: Served[]) => Promise<T>,
): Promise<T> {
  const served: Served[] = []
  try {
    for (const { portal, workers } of wanted) served.push(await servePortal(portal, workers))
    return await work(served)
  } finally {
    await stopAll(served)
  }
}

async function stopAll(servers: readonly Started[]): Promise<void> {
  await Promise.all(servers.map((server) => stop(server)))
}
