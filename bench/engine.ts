import { measureImport, measureRankings, measureReadsDuringImport } from './bulk.js'
import { type Comparison, compare } from './compare.js'
import type { Databases, Engine } from './databases.js'
import { againstPeer, attempt, type Finding } from './findings.js'
import { KINDS } from './kinds.js'
import { residentBytes } from './memory.js'
import type { Options } from './options.js'
import { makePortal, type Portal, type Served, servePortal } from './portal.js'
import { type Load, type Started, startBaseline, stop } from './processes.js'
import { READ_KINDS } from './reads.js'
import type { EngineReport, PortalReport } from './report.js'
import { measureReads, type ReadRow } from './scale.js'
import { measureMemory, measureStart, measureWorkers } from './serving.js'
import { measureSolves } from './solves.js'
import { measureVisibility } from './visibility.js'

/** What the measurements of a run share. */
export interface Run {
  options: Options
  folder: string
  load: Load
  databases: Databases
  /** Tells whoever waits how far the run is. */
  say(text: string): void
}

/** Everything on one engine. What writes comes after what reads, so that nothing is measured on a store that another changed. */
export async function measureEngine(run: Run, engine: Engine): Promise<EngineReport> {
  const { options, databases, folder, say } = run
  const portals: Portal[] = []
  for (const authors of options.authors) {
    say(`${authors} authors, ${engine}: filling a store`)
    portals.push(await makePortal(folder, await databases.make(engine, String(authors)), authors))
  }
  const reports: PortalReport[] = []
  for (const portal of portals) reports.push(await measurePairs(run, portal))
  const page = reports[0]?.comparisons.find(({ kind }) => kind.name === 'classement')
  const findings = page ? [againstPeer(page.palmares.requestsPerSecond)] : []
  const { reads, solves } = await measureScale(run, portals)
  findings.push(...solves, ...(await measureServing(run, portals.at(-1) as Portal)))
  for (const portal of portals) {
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

/** Reads and solves, at all sizes in turn. */
async function measureScale(
  { options, load, say }: Run,
  portals: Portal[],
): Promise<Pick<EngineReport, 'reads'> & { solves: Finding[] }> {
  const { pace, wants, wantsSubject, workers } = options
  const served: Served[] = []
  for (const portal of portals) served.push(await servePortal(portal, workers))
  const reads: ReadRow[] = []
  for (const kind of READ_KINDS.filter(({ name }) => wants(name))) {
    const rows = await measureReads(served, load, kind, pace)
    say(`${kind.name}: ${rows.map((row) => row.fault ?? `${row.p50Milliseconds.toFixed(2)} ms`).join(', ')}`)
    reads.push(...rows)
  }
  const solves = wantsSubject('solves') ? await attempt('solves', () => measureSolves(served, pace)) : []
  await stopAll(served)
  return { reads, solves }
}

/** What is measured at one size alone, the largest. */
async function measureServing({ options, load, say }: Run, portal: Portal): Promise<Finding[]> {
  const { pace, wantsSubject } = options
  const findings: Finding[] = []
  if (wantsSubject('start')) findings.push(...(await attempt('start', () => measureStart(portal, pace.starts))))
  const [one, other, two] = [await servePortal(portal, 1), await servePortal(portal, 1), await servePortal(portal, 2)]
  const subjects = {
    memory: () => measureMemory(one, load, pace),
    visibility: () => measureVisibility(portal, one.port, other.port, pace.looks),
    workers: () => measureWorkers(one, two, load, pace),
  }
  for (const [name, work] of Object.entries(subjects)) {
    if (!wantsSubject(name as keyof typeof subjects)) continue
    say(name)
    findings.push(...(await attempt(name, work)))
  }
  await stopAll([one, other, two])
  return findings
}

async function measureBulk({ options, folder, load, say }: Run, portal: Portal): Promise<Finding[]> {
  const { pace, wantsSubject } = options
  const findings: Finding[] = []
  const isFile = portal.database.engine === 'sqlite'
  say(`${portal.authors} authors: imports`)
  if (wantsSubject('import') && isFile)
    findings.push(...(await attempt('import', () => measureImport(portal, folder, pace))))
  if (wantsSubject('import-reads')) {
    const served = await servePortal(portal, 1)
    findings.push(
      ...(await attempt('reads during an import', () => measureReadsDuringImport(served, load, folder, pace))),
    )
    await stop(served)
  }
  if (wantsSubject('rankings')) findings.push(...(await attempt('rankings', () => measureRankings(portal))))
  return findings
}

async function stopAll(servers: readonly Started[]): Promise<void> {
  await Promise.all(servers.map((server) => stop(server)))
}
