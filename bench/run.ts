import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Arena, type Comparison, compare, measureCeiling, type Pace } from './compare.js'
import { Databases, ENGINES, type Engine } from './databases.js'
import { KINDS, type Kind } from './kinds.js'
import { residentBytes } from './memory.js'
import { makePortal, type Portal, servePortal } from './portal.js'
import { killAll, killAllOnExit, type Started, startBaseline, startLoad, stop } from './processes.js'
import { machineName, type PortalReport, type Report, toMarkdown } from './report.js'

const USAGE = `npm run bench -- [options]
  --quick            fewer and shorter rounds: for the shape of the table, not for its numbers
  --authors <list>   sizes of the portal, comma-separated (10000)
  --engine <list>    engines of the store, comma-separated: ${ENGINES.join(', ')} (sqlite)
  --workers <n>      processes that Palmarès serves with (1)
  --only <list>      kinds, comma-separated: ${KINDS.map(({ name }) => name).join(', ')}
  --json <file>      write all that was measured as JSON
  --write            write the table into bench/RESULTS.md`

const FULL: Pace = { rounds: 5, seconds: 2, warmSeconds: 2, connections: 32 }
const QUICK: Pace = { rounds: 3, seconds: 0.4, warmSeconds: 0.5, connections: 32 }
/** Filling and emptying a store, at the least rate that is worth waiting for. */
const BULK_LINES_PER_SECOND = 5_000
const LINES_PER_AUTHOR = 8
/** Past this a run has hung, whatever it waits for; what it takes besides the bulk work does not follow the size. */
const RUN_SECONDS = 1_200
const RESULTS = new URL('../../bench/RESULTS.md', import.meta.url)

interface Options {
  quick: boolean
  authors: number[]
  engines: Engine[]
  workers: number
  kinds: Kind[]
  json: string | undefined
  write: boolean
}

async function main(): Promise<void> {
  const options = readOptions()
  killAllOnExit()
  const folder = mkdtempSync(join(tmpdir(), 'palmares-bench-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const bulk = options.authors.reduce((sum, authors) => sum + 2 * bulkSeconds(authors), 0) * options.engines.length
  const databases = new Databases(folder)
  const interrupted = interruption(RUN_SECONDS + bulk)
  const report = await Promise.race([measure(options, folder, databases), interrupted]).finally(() => {
    killAll()
    return databases.end()
  })
  const text = toMarkdown(report)
  console.log(text)
  if (options.json) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
  if (options.write) writeFileSync(RESULTS, `${RESULTS_HEAD}${text}`)
  process.exit()
}

/** Ends a run that hangs or that is interrupted, so that its databases can be dropped. */
function interruption(seconds: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error(`no end after ${seconds} s`)), seconds * 1000).unref()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => reject(new Error(signal)))
  })
}

const RESULTS_HEAD = `# Results

Written by \`npm run bench -- --write\`; [README.md](README.md) says what is measured and how to read it.

`

async function measure(options: Options, folder: string, databases: Databases): Promise<Report> {
  await databases.check(options.engines)
  const pace = options.quick ? QUICK : FULL
  const load = startLoad()
  const raw = await startBaseline('raw')
  const ceiling = await measureCeiling({ load }, raw, pace)
  await stop(raw)
  const portals: PortalReport[] = []
  for (const engine of options.engines) {
    for (const authors of options.authors) {
      const database = await databases.make(engine, String(authors))
      say(`${authors} authors, ${engine}: filling a store`)
      const portal = await makePortal(folder, database, authors, bulkSeconds(authors))
      portals.push(await measurePortal(portal, authors, load, pace, options))
      await database.drop()
    }
  }
  await stop(load)
  return { machine: machineName(), date: new Date().toISOString(), command: commandLine(), ceiling, portals }
}

async function measurePortal(
  portal: Portal,
  authors: number,
  load: Arena['load'],
  pace: Pace,
  { kinds, workers }: Options,
): Promise<PortalReport> {
  const { engine, address } = portal.database
  const servers = {
    palmares: await servePortal(portal, workers),
    bare: await startBaseline('bare'),
    handWritten: await startBaseline(engine, address),
  }
  const comparisons: Comparison[] = []
  for (const kind of kinds) {
    const found = await compare({ ...servers, load, authors, key: portal.key }, kind, pace)
    say(`${kind.name}: ${found.ratio.median.toFixed(2)} of ${kind.against}`)
    comparisons.push(found)
  }
  const servingBytes = residentBytes(servers.palmares.child.pid as number)
  await Promise.all(Object.values(servers).map((server: Started) => stop(server)))
  return { engine, authors, workers, portal: portal.facts, servingBytes, comparisons }
}

function bulkSeconds(authors: number): number {
  return 60 + (authors * LINES_PER_AUTHOR) / BULK_LINES_PER_SECOND
}

function commandLine(): string {
  return ['npm run bench', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(' ')
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      authors: { type: 'string', default: '10000' },
      engine: { type: 'string', default: 'sqlite' },
      workers: { type: 'string', default: '1' },
      only: { type: 'string' },
      json: { type: 'string' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(USAGE)
    process.exit()
  }
  const authors = values.authors.split(',').map(Number)
  if (!authors.every((size) => Number.isInteger(size) && size >= 1000)) fail('--authors takes integers from 1000 on')
  const engines = values.engine.split(',').map((name) => known(name, ENGINES, '--engine'))
  const workers = Number(values.workers)
  if (!Number.isInteger(workers) || workers < 1) fail('--workers takes an integer from 1 on')
  const names = KINDS.map(({ name }) => name)
  const only = values.only?.split(',').map((name) => known(name, names, '--only'))
  const kinds = KINDS.filter(({ name }) => !only || only.includes(name))
  return { quick: values.quick, authors, engines, workers, kinds, json: values.json, write: values.write }
}

function known<T extends string>(name: string, list: readonly T[], option: string): T {
  return list.find((each) => each === name) ?? fail(`${option} takes ${list.join(', ')}, not ${name}`)
}

function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

function fail(reason: string): never {
  say(`error: ${reason}`)
  process.exit(1)
}

main().catch((error: Error) => fail(error.message))
