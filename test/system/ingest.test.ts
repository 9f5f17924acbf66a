import type { ChildProcess } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { checkPortal } from '../../src/portal/check.js'
import { openStore } from '../../src/store/open.js'
import { addAccount, addKey, type DumpLine, engines, importInto, makeFolder, makePlace } from '../harness.js'
import { palmares, type Running, start, startPalmares } from '../palmares.js'
import { PATIENCE } from '../patience.js'

const PORTAL: DumpLine[] = [
  { type: 'rubrique', id_rubrique: 1, nom: 'r' },
  ...Array.from({ length: 50 }, (_, i) => ({ type: 'auteur', id_auteur: i + 1, nom: `n${i}` })),
  ...Array.from({ length: 200 }, (_, i) => ({
    ...{ type: 'challenge', id_challenge: i + 1, id_rubrique: 1 },
    ...{ titre: 'c', score: 10 },
  })),
]
const solve = (id_auteur: number, id_challenge: number) => ({ type: 'validation', id_auteur, id_challenge })
const text = (lines: object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/** A command that reads standard input, and its results. */
interface Stream {
  child: ChildProcess
  answers(): string[]
  errors(): string
  ended: Promise<number | null>
}

describe.each(engines)('palmares ingest on %s', (engine) => {
  const folder = makeFolder()
  let place: { url: string; remove(): unknown }
  let key: string
  let stream: Stream | undefined
  let server: Running | undefined

  beforeAll(async () => {
    place = await makePlace(engine)
    const store = await openStore(place.url, { create: true })
    await importInto(store, PORTAL)
    await addAccount(store, { login: 'alice', password: 'correct horse battery', idAuteur: 1 })
    key = await addKey(store, 'alice')
    await store.close()
  })
  afterEach(async () => {
    stream?.child.kill('SIGKILL')
    await server?.stop()
    server = undefined
  })
  afterAll(() => place.remove())

  const run = (args: string[], input = '') =>
    palmares(['ingest', ...args, '--database', place.url], { cwd: folder, input })
  function open(): Stream {
    const child = start(['ingest', '-', '--database', place.url], { cwd: folder })
    let [out, errors] = ['', '']
    child.stdout!.setEncoding('utf8').on('data', (some: string) => (out += some))
    child.stderr!.setEncoding('utf8').on('data', (some: string) => (errors += some))
    const ended = new Promise<number | null>((resolve) => child.on('close', () => resolve(child.exitCode)))
    stream = { child, ended, answers: () => out.split('\n').filter(Boolean), errors: () => errors }
    return stream
  }
  const answered = (count: number) => vi.waitFor(() => expect(stream!.answers().length).toBe(count), PATIENCE)

  test('a line on an open stream gets its result, and is visible in the next response of a server', async () => {
    server = await startPalmares(['serve', '--database', place.url, '--metrics-port', '0'], { cwd: folder })
    const scoreOf = async (id: number) => {
      const response = await fetch(`${server!.url}/auteurs/${id}`, { headers: { cookie: `api_key=${key}` } })
      return ((await response.json()) as { score: number }).score
    }
    const { child, answers, ended, errors } = open()
    for (let solved = 1; solved <= 3; solved++) {
      child.stdin!.write(text([solve(2, solved)]))
      await answered(solved)
      if (engine === 'postgres') await expect.poll(() => scoreOf(2)).toBe(10 * solved)
      else expect(await scoreOf(2)).toBe(10 * solved)
    }
    child.stdin!.write(text([solve(2, 1), solve(99, 1)]).slice(0, -5))
    await answered(4)
    child.stdin!.end()
    expect(await ended).toBe(1)
    expect(answers().map((line) => JSON.parse(line).resultat)).toEqual([
      ...['appliquee', 'appliquee', 'appliquee', 'connue', 'refusee'],
    ])
    expect(errors()).toBe('3 applied, 1 known, 1 refused\nerror: 1 line(s) were refused\n')
  })

  test('a file is applied in order, and changes nothing the second time', async () => {
    const lines = [
      { type: 'auteur', id_auteur: 60, nom: 'new', score: 5 },
      ...Array.from({ length: 2_500 }, (_, i) => solve(3 + (i % 40), 1 + (i % 200))),
    ]
    writeFileSync(join(folder, 'solves.ndjson'), text(lines))
    const first = await run(['solves.ndjson', '--refused-only'])
    expect(first).toMatchObject({
      status: 0,
      stdout: '',
      stderr: expect.stringMatching(/^201 applied, 2300 known, 0 refused\n$/),
    })
    expect(await run(['solves.ndjson'])).toMatchObject({ status: 0, stderr: '0 applied, 2501 known, 0 refused\n' })
  })

  test('--refused-only prints the refused lines only', async () => {
    const { status, stdout } = await run(['-', '--refused-only'], `${text([solve(4, 1)])}nope\n`)
    expect([status, stdout]).toEqual([
      1,
      '{"ligne":2,"resultat":"refusee","raison":"the line is not JSON; it may have been cut short"}\n',
    ])
  })

  test('the command fails with a message if the reader of its results goes away', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => solve(1 + (i % 50), 1 + ((i * 7) % 200)))
    const { child, ended, errors } = open()
    child.stdin!.on('error', () => undefined)
    child.stdout!.destroy()
    child.stdin!.end(text(lines))
    expect(await ended).toBe(1)
    expect(errors()).toMatch(/^error: standard output was closed \(EPIPE\); lines after \d+ were not applied\n$/)
  })

  test('an unreadable file is reported in one line', async () => {
    mkdirSync(join(folder, 'folder'))
    expect(await run(['missing.ndjson'])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: 'error: missing.ndjson: there is no such file\n',
    })
    expect(await run(['folder'])).toMatchObject({ status: 1, stderr: 'error: folder: this is a folder, not a file\n' })
    const other = await makePlace(engine)
    const missing = await palmares(['ingest', '-', '--database', other.url], { cwd: folder })
    expect(missing).toMatchObject({ status: 1, stderr: expect.stringMatching(/^error: [^\n]*no store here[^\n]*\n$/) })
    await other.remove()
  })

  test('after a kill, every line with a result is in the store, and the store has no fault', async () => {
    const { child, answers, ended } = open()
    const lines = Array.from({ length: 4_000 }, (_, i) => solve(10 + Math.floor(i / 200), 1 + (i % 200)))
    child.stdin!.on('error', () => undefined).write(text(lines))
    await vi.waitFor(() => expect(answers().length).toBeGreaterThan(500), { ...PATIENCE, interval: 1 })
    child.kill('SIGKILL')
    await ended
    const whole = answers().filter((line) => line.endsWith('}')).length
    const store = await openStore(place.url, { create: false })
    expect((await checkPortal(store)).findings.flatMap(({ faults }) => faults)).toEqual([])
    const stored = await store.read((db) =>
      db.select<{ nb: number }>('select count(*) as nb from validations where id_auteur between 10 and 29'),
    )
    expect(Number(stored[0]?.nb)).toBeGreaterThanOrEqual(whole)
    await store.close()
    expect(await run(['-'], text(lines))).toMatchObject({ status: 0 })
  })

  if (engine === 'postgres') return

  test('it waits for another writer', async () => {
    const other = new DatabaseSync(place.url.slice('sqlite:'.length))
    other.exec('begin immediate')
    const { child, errors, answers, ended } = open()
    child.stdin!.end(text([solve(45, 1)]))
    await vi.waitFor(() => expect(errors()).toMatch(/warning: .*locked.*; retrying from line 1/), PATIENCE)
    expect(answers()).toEqual([])
    other.exec('rollback')
    other.close()
    expect([await ended, answers()]).toEqual([0, ['{"ligne":1,"resultat":"appliquee"}']])
  })
})
