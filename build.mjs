/** Builds the server, the client and the page, unless what was built last is what these sources give. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const TSC = 'node_modules/typescript/bin/tsc'
const STEPS = [
  ['Bundling the server', ['src/build.mjs']],
  ['Compiling the client', [TSC, '-p', 'client']],
  ['Bundling the page', ['web/build.mjs']],
]
const SOURCES = [
  ...['build.mjs', 'package.json', 'package-lock.json', 'node_modules/.package-lock.json'],
  ...['tsconfig.json', 'src', 'web', 'client/package.json', 'client/tsconfig.json', 'client/src'],
]
const BUILT = ['dist', 'client/dist']
/** The hash of every source that was built from, and of every file that was built. */
const RECORD = 'dist/.build.json'

process.chdir(import.meta.dirname)
checkInstalled()
const sources = hashes(SOURCES)
const record = readRecord()
if (!record || !isSame(record.sources, sources)) build()

function build() {
  // A compiler leaves what it made from a source that is gone, and does not make again what it believes to be there.
  if (!record || Object.keys(record.sources).some((path) => !(path in sources))) {
    for (const folder of BUILT) rmSync(folder, { recursive: true, force: true })
  }
  rmSync(RECORD, { force: true })
  for (const [index, [step, args]] of STEPS.entries()) {
    process.stdout.write(`${step} (${index + 1} of ${STEPS.length})…\n`)
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
    if (status !== 0) fail(`the build stopped: ${step.toLowerCase()} failed`)
  }
  writeFileSync(RECORD, JSON.stringify({ sources, built: hashes(BUILT) }))
}

/** The record of the last build; undefined where there is none, or a file of that build is gone or changed. */
function readRecord() {
  if (!existsSync(RECORD)) return undefined
  try {
    const { sources, built } = JSON.parse(readFileSync(RECORD, 'utf8'))
    return Object.entries(built).every(([path, hash]) => hashOf(path) === hash) ? { sources, built } : undefined
  } catch {
    return undefined
  }
}

/** The hash of each file under these paths. */
function hashes(paths) {
  return Object.fromEntries(paths.flatMap(filesIn).map((path) => [path, hashOf(path)]))
}

function filesIn(path) {
  if (!existsSync(path)) return []
  if (!statSync(path).isDirectory()) return path.endsWith('.test.ts') ? [] : [path]
  return readdirSync(path).flatMap((name) => filesIn(join(path, name)))
}

/** undefined where there is no such file. */
function hashOf(path) {
  return existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('base64') : undefined
}

function isSame(some, others) {
  const paths = Object.keys(some)
  return paths.length === Object.keys(others).length && paths.every((path) => some[path] === others[path])
}

/** What is installed by another package manager is not looked at. */
function checkInstalled() {
  if (!existsSync(TSC)) fail('the dependencies are not installed; run `npm ci` first')
  const [wanted, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((path) =>
    existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : {},
  )
  const isOther = Object.keys(installed).some((path) => installed[path].version !== wanted[path]?.version)
  if (isOther)
    process.stderr.write('warning: the installed dependencies are not those of package-lock.json; run `npm ci`\n')
}

function fail(message) {
  process.stderr.write(`error: ${message}\n`)
  process.exit(1)
}
