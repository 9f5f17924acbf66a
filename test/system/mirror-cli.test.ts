import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { run as runProgram } from '../../src/cli/program.js'
import { openStore } from '../../src/store/open.js'
import { portail, randomPortal } from '../fixtures.js'
import { type Front, passOn, startFront } from '../front.js'
import { type DumpLine, exportFrom, makeFolder, startServer, type TestServer } from '../harness.js'
import { palmares, type Run, start } from '../palmares.js'

let origin: TestServer
let folder: string

beforeAll(async () => {
  origin = await startServer(portail, { logLevel: 'silent' })
  folder = makeFolder()
})

afterAll(async () => {
  await origin.close()
  rmSync(folder, { recursive: true, force: true })
})

const run = (args: string[], env: Record<string, string> = {}): Promise<Run> =>
  palmares(['mirror', ...args], { cwd: folder, env: { PALMARES_MIRROR_KEY: origin.key, ...env } })

/** The same in this process, for commands that end early. */
async function runHere(args: string[], key = origin.key): Promise<Run> {
  vi.stubEnv('PALMARES_MIRROR_KEY', key)
  const text = { stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk) => {
      text[name] += chunk
      return true
    }),
  )
  const status = await runProgram(['node', 'palmares', 'mirror', ...args])
  for (const spy of spies) spy.mockRestore()
  vi.unstubAllEnvs()
  return { status, ...text }
}

const at = (name: string) => `sqlite:${join(folder, name)}`
const FAST = ['--requests-per-second', '1000']

async function contentsOf(database: string): Promise<DumpLine[]> {
  const store = await openStore(database, { create: false })
  const lines = await exportFrom(store)
  await store.close()
  return lines
}

async function expectedCopy(server: TestServer): Promise<DumpLine[]> {
  return (await exportFrom(server.store)).map(
    ({ date_score: _, ...line }): DumpLine =>
      typeof line.url_challenge === 'string'
        ? { ...line, url_challenge: line.url_challenge.replace(/^\/+/, '') }
        : line,
  )
}

test('a pass creates the store, reports the changes on standard output, and never shows or stores the key', async () => {
  const database = at('pass.db')
  const first = await run([origin.url, '--database', database, ...FAST])
  expect(first.status).toBe(0)
  expect(first.stdout).toMatch(
    /^Copy updated: \d+ requests, 0 unchanged, no rate-limit wait\n( {2}\w+: \d+ added, .*\n)+$/,
  )
  expect(first.stdout).toContain('  auteur: 12 added, 0 changed, 0 removed\n')
  expect(first.stderr).toMatch(/^reading challenges: \d+ of 6 records, about \d+ s left, \d+ %\n/m)
  const second = await run([`${origin.url}/`, '--database', database, ...FAST])
  expect(second).toMatchObject({ status: 0 })
  expect(second.stdout).toMatch(/^Copy updated: (\d+) requests, \1 unchanged, no rate-limit wait, no changes\n$/)
  expect(await contentsOf(database)).toEqual(await expectedCopy(origin))
  expect(first.stdout + first.stderr + second.stderr).not.toContain(origin.key)
  for (const name of readdirSync(folder))
    expect(readFileSync(join(folder, name)).includes(origin.key), name).toBe(false)
})

test('after a kill during a pass, the next run continues and ends with the whole portal', async () => {
  const database = at('killed.db')
  const large = await startServer(
    randomPortal({ seed: 8, auteurs: 540, challenges: 20, validations: 200, scores: 9 }),
    {
      logLevel: 'silent',
    },
  )
  const front = await startFront(passOn(large.url))
  const env = { PALMARES_MIRROR_KEY: large.key }
  const args = [front.url, '--database', database, ...FAST]
  const child = start(['mirror', ...args], { cwd: folder, env })
  front.fault = (_, usual) => {
    if (front.asked.length === 530) child.kill('SIGKILL')
    return usual()
  }
  await once(child, 'close')
  expect(child.signalCode).toBe('SIGKILL')
  front.fault = undefined
  const half = (await contentsOf(database)).length
  expect(half).toBeGreaterThan(200)
  const asked = front.asked.length
  const rest = await run(args, env)
  expect(rest.stdout).toMatch(/^Copy updated \(continued an interrupted run\): /)
  expect(front.asked.length - asked).toBeLessThan(100)
  expect(await contentsOf(database)).toEqual(await expectedCopy(large))
  await front.close()
  await large.close()
})

test('--every continues after a pass that fails in part, reports the failure, and a signal ends it with 0', async () => {
  const front = await startFront(passOn(origin.url))
  front.fault = async ({ path }, usual) => (path === '/auteurs/9' ? { ...(await usual()), status: 400 } : usual())
  const args = ['mirror', front.url, '--database', at('every.db'), ...FAST]
  const env = { PALMARES_MIRROR_KEY: origin.key }
  const once400 = await palmares(args, { cwd: folder, env })
  expect(once400).toMatchObject({ status: 1, stdout: expect.stringMatching(/^Copy updated except for 1 record: \d+/) })
  const message = /^warning: \/auteurs\/9: it answered 400 .*\n(?:.*\n)*error: 1 record could not be read, see above; /m
  expect(once400.stderr).toMatch(message)

  const child = start([...args, '--every', '10s'], { cwd: folder, env })
  let stderr = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  await expect.poll(() => stderr).toMatch(/the next pass resumes\n/)
  expect(stderr).toMatch(message)
  child.kill('SIGTERM')
  await once(child, 'close')
  expect(child.exitCode).toBe(0)
  await front.close()
})

test('a signal during a pass keeps what was copied, reports it, and ends with 0', async () => {
  const database = at('signal.db')
  const front: Front = await startFront(passOn(origin.url))
  const child = start(['mirror', front.url, '--database', database], {
    cwd: folder,
    env: { PALMARES_MIRROR_KEY: origin.key },
  })
  let stdout = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  front.fault = ({ path }, usual) => {
    if (path === '/challenges/3') child.kill('SIGINT')
    return usual()
  }
  await once(child, 'close')
  expect(child.exitCode).toBe(0)
  expect(stdout).toMatch(/^Stopped; the next run continues: /)
  const lines = await contentsOf(database)
  expect(lines.filter(({ type }) => type === 'challenge').map((line) => line.id_challenge)).toContain(1)
  expect(lines.length).toBeLessThan((await expectedCopy(origin)).length)
  await front.close()
})

describe('the key', () => {
  test('a key in a file takes precedence over the environment, and a file readable by others is reported', async () => {
    const file = join(folder, 'key')
    writeFileSync(file, `${origin.key}\n`)
    chmodSync(file, 0o644)
    const { status, stderr } = await run([origin.url, '--database', at('file.db'), '--key-file', 'key', ...FAST], {
      PALMARES_MIRROR_KEY: 'wrong',
    })
    expect(status).toBe(0)
    expect(stderr).toContain('warning: other users can read key; run chmod 600 key\n')
  })

  test('a missing or malformed key is a usage error', async () => {
    const form = 'error: PALMARES_MIRROR_KEY must contain only an API key\n'
    const cases: [key: string, message: string][] = [
      ['', 'error: a key for the portal must be in PALMARES_MIRROR_KEY, or in the file that --key-file names\n'],
      ['secret\r\nx: y', form],
      ['secret; a=b', form],
    ]
    for (const [key, message] of cases) {
      const ended = await runHere([origin.url, '--database', at('none.db')], key)
      expect(ended).toEqual({ status: 2, stdout: '', stderr: message })
    }
    expect(existsSync(join(folder, 'none.db'))).toBe(false)
  })

  test('a key that the portal refuses ends the command with 1, is not shown, and leaves no store behind', async () => {
    const { status, stderr } = await run([origin.url, '--database', at('refused.db'), ...FAST], {
      PALMARES_MIRROR_KEY: 'wrongkey',
    })
    expect(status).toBe(1)
    expect(stderr).toMatch(
      /^error: \/classement\?limite=1: it answered 401 .*\(credential_invalid\): the portal refuses the key\n$/,
    )
    expect(existsSync(join(folder, 'refused.db'))).toBe(false)
  })

  test('is sent over http:// to this machine only', async () => {
    const open = await runHere(['http://portail.example/', '--database', at('open.db')])
    expect(open).toMatchObject({ status: 2, stdout: '' })
    expect(open.stderr).toMatch(/^error: over http:\/\/ anyone on the network path can read the key/)
  })
})

test('a usage error is reported without showing secrets', async () => {
  const address = 'error: URL takes an address such as https://portail.example/'
  const cases: [args: string[], message: string][] = [
    [['ftp://portail.example/'], address],
    [['http://user:secret@127.0.0.1/'], address],
    [['http://127.0.0.1/?api_key=secret'], address],
    [['http://127.0.0.1/', '--every', '9s'], 'It takes a time from 10s to 604800s'],
    [['http://127.0.0.1/', '--every', '10'], 'It takes a time from 10s to 604800s'],
    [['http://127.0.0.1/', '--authors', '1,x'], 'It takes at most 10000 ids such as 12,34,56.'],
    [['http://127.0.0.1/', '--requests-per-second', '0'], 'It takes a number from 0.01 to 1000.'],
  ]
  for (const [args, message] of cases) {
    const ended = await runHere(args)
    expect([args, ended.status, ended.stdout]).toEqual([args, 2, ''])
    expect(ended.stderr).toContain(message)
    expect(ended.stderr).not.toContain('secret')
  }
})
