import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measureCeiling } from './compare.js'
import { Databases } from './databases.js'
import { measureEngine } from './engine.js'
import { type Options, readOptions } from './options.js'
import { bulkSeconds } from './portal.js'
import { killAll, killAllOnExit, startBaseline, startLoad, stop } from './processes.js'
import { type EngineReport, hasFaults, machineName, type Report, toMarkdown } from './report.js'

/** Time limits after which a run counts as hung: per engine, and per import or export. */
const ENGINE_SECONDS = 2_400
const BULK_WORKS = 10
const RESULTS = new URL('../../bench/RESULTS.md', import.meta.url)

const RESULTS_HEAD = `# Results

Written by \`npm run bench -- --write\`; [README.md](README.md) says what is measured and how to read it.

`

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2))
  if (!options) return
  killAllOnExit()
  const folder = mkdtempSync(join(tmpdir(), 'palmares-bench-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const bulk = options.authors.reduce((sum, authors) => sum + BULK_WORKS * bulkSeconds(authors), 0)
  const databases = new Databases(folder)
  const interrupted = interruption((ENGINE_SECONDS + bulk) * options.engines.length)
  const report = await Promise.race([measure(options, folder, databases), interrupted]).finally(() => {
    killAll()
    return databases.end()
  })
  const text = toMarkdown(report)
  console.log(text)
  if (options.json) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
  if (options.write) writeFileSync(RESULTS, `${RESULTS_HEAD}${text}`)
  process.exit(hasFaults(report) ? 1 : 0)
}

/** Rejects if the run hangs or is interrupted, so that its databases can be dropped. */
function interruption(seconds: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error(`no end after ${seconds} s`)), seconds * 1000).unref()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => reject(new Error(signal)))
  })
}

async function measure(options: Options, folder: string, databases: Databases): Promise<Report> {
  await databases.check(options.engines)
  const load = startLoad()
  const raw = await startBaseline('raw')
  const ceiling = await measureCeiling({ load }, raw, options.pace)
  await stop(raw)
  const engines: EngineReport[] = []
  for (const engine of options.engines) {
    engines.push(await measureEngine({ options, folder, load, databases, say }, engine))
  }
  await stop(load)
  const command = ['npm run bench', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(' ')
  return { machine: machineName(), date: new Date().toISOString(), command, ceiling, engines }
}

function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

main().catch((error: Error) => {
  say(`error: ${error.message}`)
  process.exit(1)
})
