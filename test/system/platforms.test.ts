import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { contest, ctfdZip } from '../ctfd.js'
import { makeFolder } from '../harness.js'
import { section, table } from '../markdown.js'
import { blocks, paste } from '../pages.js'
import { startPalmares } from '../palmares.js'

const CTFD = 'docs/platforms/ctfd.md'
const CTFTIME = 'docs/platforms/ctftime.md'

/** The responses of a contest platform. */
const ANSWERS: Record<string, unknown> = {
  '/api/v1/scoreboard': {
    success: true,
    data: [{ pos: 1, account_id: 9, account_type: 'user', name: 'nine', score: 90 }],
  },
}

let folder: string
let elsewhere: Server
let address: string
beforeAll(async () => {
  folder = makeFolder()
  const [feed] = blocks(CTFTIME, 'json') as [string]
  elsewhere = createServer(({ url }, response) => {
    response.end(url === '/ctftime' ? feed : JSON.stringify(ANSWERS[url as string]))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => elsewhere.once('listening', resolve))
  address = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
})
afterAll(async () => {
  await new Promise((resolve) => elsewhere.close(resolve))
  rmSync(folder, { recursive: true, force: true })
})

const here = (block: string) => block.replaceAll('https://ctf.example', address)

test('the page of CTFd works as written, and explains every warning on the way', async () => {
  writeFileSync(join(folder, 'export.zip'), ctfdZip(contest()))
  const [fill, serve, dated, frozen, later, scoreboard, ...none] = blocks(CTFD, 'sh') as string[]
  expect(none).toEqual([])
  const filled = await paste(folder, fill as string)
  expect(filled.stdout).toContain('auteur: 4 added')
  const explained = table(section(CTFD, 'What the import reports'), 'Warning').map(({ Warning }) => Warning)
  const warnings = [...filled.stderr.matchAll(/^warning: \d+ ([^:]+)/gm)].map(([, warning]) => warning)
  expect(warnings.length).toBeGreaterThan(5)
  expect(explained).toEqual(expect.arrayContaining(warnings))

  const server = await startPalmares([...(serve as string).trim().split(/\s+/).slice(2), '--metrics-port', '0'], {
    cwd: folder,
  })
  await paste(folder, 'openssl rand -base64 18 | npx palmares accounts add alice --id-auteur 1 --password-stdin')
  const { stdout: key } = await paste(folder, 'npx palmares keys create alice --quiet')
  const response = await fetch(`${server.url}/challenges/2`, { headers: { authorization: `Bearer ${key.trim()}` } })
  expect(await response.json()).toMatchObject({
    titre: 'Dynamic',
    url_challenge: 'https://ctf.example/challenges#Dynamic-2',
  })
  expect(await server.stop()).toBe(0)

  expect((await paste(folder, dated as string)).stdout).toContain('departage is now date')
  expect((await paste(folder, frozen as string)).stdout).toContain('solve(s) at the freeze')
  expect((await paste(folder, later as string)).stdout).toContain('left out')
  expect((await paste(folder, here(scoreboard as string))).stdout).toContain('auteur: 1 added')
})

test('the page of CTFtime works as written', async () => {
  const env = { PALMARES_DATABASE: 'sqlite:feed.db' }
  const [fill, dated, scaled, later, ...none] = blocks(CTFTIME, 'sh') as string[]
  expect(none).toEqual([])
  expect((await paste(folder, here(fill as string), env)).stdout).toContain('auteur: 1 added')
  expect((await paste(folder, 'npx palmares import --format ctftime - < feed.json', env)).stdout).toContain(
    'nothing changed',
  )
  expect((await paste(folder, dated as string, env)).stdout).toContain(
    'departage is now date\n  places: all 1 are as in the file',
  )
  expect((await paste(folder, scaled as string, env)).stdout).toContain('challenge: 0 added, 1 changed')
  expect((await paste(folder, later as string, env)).stdout).toContain('challenge: 0 added, 1 changed')
  expect((await paste(folder, 'npx palmares export', env)).stdout).toContain(
    '"nom":"alpha","score":150,"date_score":"2026-01-31T13:00:00Z"}',
  )
})

test('the pages give the limits of the code', () => {
  const markdown = readFileSync('src/formats/ctfd/markdown.ts', 'utf8')
  const page = readFileSync(CTFD, 'utf8')
  for (const [, , number] of markdown.matchAll(/^const (MAX_\w+) = ([\d_]+)$/gm)) {
    expect(page).toContain((number as string).replaceAll('_', ','))
  }
})
