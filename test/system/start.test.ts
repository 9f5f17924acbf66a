import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { makeFolder } from '../harness.js'
import { blocks, paste as pasteIn } from '../pages.js'
import { type Running, startPalmares } from '../palmares.js'

const run = promisify(execFile)
const folder = makeFolder()
let server: Running | undefined
afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function paste(block: string, env: Record<string, string> = {}): Promise<string> {
  return (await pasteIn(folder, block, env)).stdout
}

test('the first pages for operators, and then those for bots, work as written', async () => {
  const here = (text: string) => text.replaceAll('http://127.0.0.1:8080', server?.url as string)
  const [build, fill, letIn, serve, ask, solve, ...none] = blocks('docs/start/operator.md', 'sh') as [
    string,
    ...string[],
  ]
  expect([build, none]).toEqual(['npm ci && npm run build\n', []])
  const filled = await paste(fill as string)
  expect(filled).toContain('validation: 1 added, 0 changed, 0 removed')
  await paste(letIn as string)
  const [program, name, ...args] = (serve as string).trim().split(/\s+/)
  expect([program, name]).toEqual(['npx', 'palmares'])
  server = await startPalmares([...args, '--metrics-port', '0'], { cwd: folder })
  expect(JSON.parse(await paste(here(ask as string)))).toMatchObject([
    { place: 1, nom: 'alice', score: '25' },
    { nom: 'bruno' },
  ])
  expect(JSON.parse(await paste(here(solve as string)))).toMatchObject({ appliquees: 1, refusees: 0 })
  expect(JSON.parse(await paste(here(ask as string)))).toMatchObject([
    { place: 1 },
    { place: 1, nom: 'bruno', score: '25' },
  ])

  const env = { PALMARES_URL: server.url, PALMARES_KEY: readFileSync(join(folder, 'data/key.txt'), 'utf8').trim() }
  const [, first, again, ...others] = blocks('docs/start/bot.md', 'sh')
  expect(others).toEqual([])
  const answers = await paste((first as string).replaceAll('"\n', '"; echo\n'), env)
  expect(
    answers
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toMatchObject([
    { login: 'alice', operateur: true, portee: ['lecture'] },
    [{ place: 1 }, { place: 1 }],
    [{ titre: 'Bons voisins' }],
  ])
  expect(await paste(again as string, env)).toBe('304\n')
  const [program1, ...programs] = blocks('docs/start/bot.md', 'ts') as [string, ...string[]]
  expect(programs).toEqual([])
  // In the repository, where the client is resolved by its name.
  const file = resolve('dist/first-bot.mjs')
  writeFileSync(file, program1)
  const ran = run(process.execPath, [file], { env: { ...process.env, ...env } })
  const { stdout } = await ran.finally(() => rmSync(file))
  expect(stdout).toBe('alice is at 1\n1 alice\n1 bruno\n')
})

test('every script named in the first pages for contributors exists', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
  const named = [...readFileSync('docs/start/contributor.md', 'utf8').matchAll(/npm (?:run )?([\w:]+)/g)].map(
    ([, name]) => name,
  )
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((name) => name !== 'ci' && !((name as string) in scripts))).toEqual([])
})
