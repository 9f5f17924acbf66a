import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const run = promisify(execFile)
const TSC = resolve('node_modules/typescript/bin/tsc')

const PROGRAM = `
import { MemoryCache, Palmares, PalmaresError, type Row } from '@palmares/client'

const portal = new Palmares({ baseUrl: 'http://127.0.0.1:1', apiKey: 'palm_0', cache: new MemoryCache(), retries: 0 })
export async function first(): Promise<string | undefined> {
  const row: Row<'/classement'> | undefined = (await portal.page('/classement', { query: { limite: 1 } })).rows[0]
  // @ts-expect-error a score of the ranking is text
  const score: number | undefined = row?.score
  return row?.nom
}
export const isProblem = (error: unknown): boolean => error instanceof PalmaresError && error.code === 'rate_limited'
`

let folder: string
let packed: { filename: string; size: number; files: { path: string }[] }

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'palmares-client-'))
  // The build has been made before all tests, so no script of the package runs.
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  packed = JSON.parse((await run('npm', pack, { cwd: 'client' })).stdout)[0]
  writeFileSync(join(folder, 'package.json'), '{"name":"empty","private":true,"type":"module"}')
  await install()
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Installs the packed file as a user would. Without a network, its one dependency is linked from here. */
async function install(): Promise<void> {
  const tarball = join(folder, packed.filename)
  const options = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=0']
  try {
    await run('npm', ['install', tarball, ...options], { cwd: folder, timeout: 30_000 })
  } catch {
    rmSync(join(folder, 'node_modules'), { recursive: true, force: true })
    const own = join(folder, 'node_modules/@palmares/client')
    mkdirSync(own, { recursive: true })
    await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', own])
    for (const name of ['openapi-fetch', 'openapi-typescript-helpers']) {
      symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
    }
  }
}

async function typecheck(options: object): Promise<string> {
  // The libraries of TypeScript itself are not checked.
  const always = { target: 'es2023', strict: true, noEmit: true, skipDefaultLibCheck: true }
  const compilerOptions = { ...always, types: [], ...options }
  writeFileSync(join(folder, 'program.ts'), PROGRAM)
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }))
  return run(process.execPath, [TSC, '-p', folder]).then(
    () => '',
    ({ stdout }) => stdout,
  )
}

describe('the package, installed into an empty project', () => {
  test.each([
    { module: 'nodenext', moduleResolution: 'nodenext', lib: ['es2023', 'dom'] },
    { module: 'esnext', moduleResolution: 'bundler', lib: ['es2023', 'dom'] },
    {
      module: 'nodenext',
      lib: ['es2023'],
      typeRoots: [resolve('node_modules/@types')],
      types: ['node'],
      skipLibCheck: true,
    },
  ])('has its types under $module with $lib', async (options) => {
    expect(await typecheck(options)).toBe('')
  })

  test('can be imported and makes requests', async () => {
    const source = `
      import { Palmares } from '@palmares/client'
      await new Palmares({ baseUrl: 'http://127.0.0.1:1', retries: 0 }).get('/rubriques').catch(({ name }) => console.log(name))
    `
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', source], { cwd: folder })
    expect(stdout).toBe('PalmaresNetworkError\n')
  })

  test('is small, and contains only the build, the README and the licence', () => {
    const paths = packed.files.map(({ path }) => path)
    expect(paths.filter((path) => !/^dist\/[\w-]+\.(js|d\.ts)$/.test(path)).sort()).toEqual([
      'LICENSE',
      'README.md',
      'package.json',
    ])
    expect(packed.size).toBeLessThan(30_000)
  })
})

test('takes less than 10 KB gzip when bundled for a browser with its dependency, and nothing of Node', async () => {
  const contents = "export { MemoryCache, Palmares, PalmaresError } from '@palmares/client'"
  const stdin = { contents, resolveDir: resolve('client') }
  const { outputFiles } = await build({
    stdin,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  })
  expect(gzipSync(outputFiles[0]!.contents).length).toBeLessThan(10_000)
})

describe('npm run client:check', () => {
  // That it passes is one of the static checks.
  const check = (document: string) => run(process.execPath, ['client/generate.mjs', '--check', document])

  test('fails with the command to run if they differ', async () => {
    const changed = join(folder, 'openapi.json')
    writeFileSync(changed, readFileSync('docs/openapi.json', 'utf8').replace('"nb_validations": {', '"nombre": {'))
    await expect(check(changed)).rejects.toMatchObject({
      code: 1,
      stderr: 'client/src/schema.ts is not what docs/openapi.json gives: run `npm run client:types`.\n',
    })
  })
})
