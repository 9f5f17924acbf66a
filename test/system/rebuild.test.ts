import { execFile } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeFolder } from '../harness.js'

const run = promisify(execFile)
const STEPS = 'Bundling the server (1 of 3)…\nCompiling the client (2 of 3)…\nBundling the page (3 of 3)…\n'
/** A small library, so that a build takes a second. */
const OPTIONS = { target: 'es2020', module: 'nodenext', lib: ['es5'], types: [], skipLibCheck: true, incremental: true }

let folder: string
const at = (path: string) => join(folder, path)
const text = (path: string) => readFileSync(at(path), 'utf8')
/** Writes a file with a time before any build. */
const write = (path: string, content: string) => {
  mkdirSync(join(at(path), '..'), { recursive: true })
  writeFileSync(at(path), content)
  utimesSync(at(path), 0, 0)
}
const build = () => run(process.execPath, [at('build.mjs')]).then(({ stdout }) => stdout)

/** A project of a few lines, built by our scripts. */
beforeAll(() => {
  folder = makeFolder()
  for (const folder of ['bin', 'src']) mkdirSync(at(folder))
  for (const script of ['build.mjs', 'src/build.mjs']) copyFileSync(script, at(script))
  copyFileSync('bin/palmares.js', at('bin/palmares.js'))
  write('package.json', '{"type":"module"}')
  write('package-lock.json', '{"packages":{}}')
  const compilerOptions = { ...OPTIONS, rootDir: 'src', outDir: 'dist', tsBuildInfoFile: 'dist/.tsbuildinfo' }
  write('client/tsconfig.json', JSON.stringify({ compilerOptions, include: ['src'] }))
  write('client/src/index.ts', 'export const client = 1\n')
  write('src/main.ts', 'export const main: number = 1\n')
  write('src/other.ts', '')
  write('src/store/sqlite/thread-entry.ts', '')
  write(
    'web/build.mjs',
    "import { mkdirSync, writeFileSync } from 'node:fs'\nmkdirSync('dist/web', { recursive: true })\nwriteFileSync('dist/web/page', 'page')\n",
  )
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('before a build, the message names what is missing: first the dependencies, then the build', async () => {
  await expect(build()).rejects.toMatchObject({
    code: 1,
    stderr: 'error: the dependencies are not installed; run `npm ci` first\n',
  })
  symlinkSync(resolve('node_modules'), at('node_modules'))
  await expect(run(process.execPath, [at('bin/palmares.js'), 'serve'])).rejects.toMatchObject({
    code: 1,
    stderr: `error: palmares is not built yet; run \`npm ci && npm run build\` in ${folder}/\n`,
  })
})

test('a build prints each step, a second one does nothing, and any change causes a new one', async () => {
  expect(await build()).toBe(STEPS)
  expect([text('dist/main.js'), text('dist/web/page')]).toEqual([expect.stringContaining('main = 1'), 'page'])
  expect(await build()).toBe('')

  const changes: [what: string, change: () => void][] = [
    ['a source of the server, though its time is old', () => write('src/main.ts', 'export const main: number = 2\n')],
    ['a source of the client', () => write('client/src/index.ts', 'export const client = 2\n')],
    ['a source of the page', () => write('web/src/main.tsx', '')],
    ['the lock file', () => write('package-lock.json', '{"packages":{"a":{"optional":true}}}')],
    ['a built file that is gone', () => rmSync(at('dist/store/sqlite/thread-entry.js'))],
    ['a built file that is another', () => write('dist/main.js', 'throw 1')],
    ['a source that is gone', () => rmSync(at('src/other.ts'))],
  ]
  for (const [what, change] of changes) {
    change()
    expect([what, await build()]).toEqual([what, STEPS])
  }
  expect(text('dist/main.js')).toContain('main = 2')
  expect(text('client/dist/index.js')).toContain('client = 2')
  write('src/main.test.ts', 'no source of the build')
  rmSync(at('src/main.test.ts'))
  expect(await build()).toBe('')
})

test('a failed build is reported, and is repeated the next time', async () => {
  write('src/main.ts', 'export const main: number =\n')
  for (let time = 0; time < 2; time++) {
    await expect(build()).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('error: the build stopped: bundling the server failed\n'),
    })
  }
})

test('the command is an executable file of the repository, so that npx links it before any build', () => {
  const { bin } = JSON.parse(readFileSync('package.json', 'utf8')) as { bin: { palmares: string } }
  expect(bin.palmares).toBe('bin/palmares.js')
  expect(statSync(bin.palmares).mode & 0o111).toBe(0o111)
})
