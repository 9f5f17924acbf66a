import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { headersWith } from './client.js'
import type { Finding } from './findings.js'
import { writeDump } from './generate.js'
import type { Job } from './load.js'
import type { Pace } from './pace.js'
import { bulkSeconds, importDump, migrateStore, type Portal, type Served } from './portal.js'
import { type Ended, endJob, type Load, moduleFile, runJob, runToEnd } from './processes.js'
import type { RankingsCost } from './rankings.js'
import { READ_KINDS } from './reads.js'
import { ratiosOf, spreadOf } from './statistics.js'
import { count } from './table.js'

/** Above this many authors, each kind of import runs only once. */
const MANY_AUTHORS = 100_000
const SEED = 3_000_000_000
const OPEN_END_SECONDS = 100_000

function importsOf({ authors }: Portal, { imports }: Pace): number {
  return authors > MANY_AUTHORS ? 1 : imports
}

/** Alternates Palmarès' import and a bare loop over the same lines, each into a new file. */
export async function measureImport(portal: Portal, folder: string, pace: Pace): Promise<Finding[]> {
  const { authors, facts } = portal
  const seconds: { ours: number[]; bare: number[] } = { ours: [], bare: [] }
  const dump = join(folder, 'import.ndjson')
  await writeDump(dump, authors)
  const timed = async (name: string, work: (file: string) => Promise<Ended>) => {
    const file = join(folder, name)
    const { seconds } = await work(file)
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
    return seconds
  }
  for (let round = 0; round < importsOf(portal, pace); round++) {
    const limit = bulkSeconds(authors)
    seconds.ours.push(await timed('ours.db', (file) => importDump(`sqlite:${file}`, dump, limit)))
    const bare = await timed('bare.db', async (file) => {
      await migrateStore(`sqlite:${file}`)
      return runToEnd([moduleFile('bare-import'), dump, file], limit, { env: {} })
    })
    seconds.bare.push(bare)
  }
  rmSync(dump)
  const { median, min, max } = ratiosOf(seconds.bare, seconds.ours)
  const rate = (each: number[]) => `${count(facts.lines / spreadOf(each).median)} lines/s`
  const beside = `${rate(seconds.ours)} over ${rate(seconds.bare)} (${min.toFixed(2)}–${max.toFixed(2)}), ${count(authors)} authors`
  return [{ what: 'import against a bare loop', value: median, unit: 'ratio', least: 0.3, beside }]
}

/** Times sequential reads at rest, and while a changed dump of the whole portal is imported into the same store. */
export async function measureReadsDuringImport(
  { port, portal }: Served,
  load: Load,
  folder: string,
  pace: Pace,
): Promise<Finding[]> {
  const { authors, key, database } = portal
  const rests: number[] = []
  const imports: number[] = []
  const dump = join(folder, 'changed.ndjson')
  const job: Omit<Job, 'seconds' | 'seed'> = {
    ...{ port, connections: 1, warmSeconds: 0.2, status: 200, headers: headersWith(key) },
    path: READ_KINDS.filter(({ name }) => name.startsWith('flat-')).map(({ path }) => path(authors)),
  }
  let seconds = 0
  for (let edition = 1; edition <= importsOf(portal, pace); edition++) {
    await writeDump(dump, authors, edition)
    const seed = SEED + edition * 10_000_000
    rests.push((await runJob(load, { ...job, seconds: 2 * pace.seconds, seed })).p99Milliseconds)
    const during = runJob(load, { ...job, seconds: OPEN_END_SECONDS, seed: seed + 5_000_000 })
    during.catch(() => undefined)
    seconds = (await importDump(database.url, dump, bulkSeconds(authors))).seconds
    endJob(load)
    imports.push((await during).p99Milliseconds)
  }
  rmSync(dump)
  const { median, min, max } = ratiosOf(imports, rests)
  const beside =
    `p99 ${spreadOf(imports).median.toFixed(2)} ms over ${spreadOf(rests).median.toFixed(2)} ms ` +
    `(${min.toFixed(1)}–${max.toFixed(1)}), an import of ${seconds.toFixed(1)} s, ${count(authors)} authors`
  return [{ what: 'reads during an import, p99 over p99 at rest', value: median, unit: 'ratio', most: 5, beside }]
}

/** Disk usage and import time of the rankings by category and period. */
export async function measureRankings({ database, authors, facts }: Portal): Promise<Finding[]> {
  const args = [moduleFile('rankings'), database.engine]
  const { output } = await runToEnd(args, bulkSeconds(authors), { env: { BASELINE_DATABASE: database.address } })
  const { diskBytes, seconds }: RankingsCost = JSON.parse(output)
  const importSeconds = facts.lines / facts.importLinesPerSecond
  const at = `${count(authors)} authors`
  return [
    {
      ...{ what: 'disk of the rankings by category and period', value: diskBytes, unit: 'bytes' },
      beside: `${Math.round((100 * diskBytes) / facts.diskBytes)} % of the store, ${at}`,
    },
    {
      ...{ what: 'deriving them', value: seconds, unit: 's' },
      beside: `as plain SQL on the filled store; an import took ${importSeconds.toFixed(1)} s, ${at}`,
    },
  ]
}
