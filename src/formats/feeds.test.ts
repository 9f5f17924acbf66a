import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type DumpLine,
  engines,
  exportFrom,
  importInto,
  type MadeStore,
  makeFolder,
  makeStore,
} from '../../test/harness.js'
import { palmaresHere } from '../../test/here.js'
import { stableId } from './stable-ids.js'

let folder: string
let made: MadeStore
beforeAll(() => {
  folder = makeFolder()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function imports(format: string, body: unknown, ...options: string[]) {
  const file = join(folder, 'feed.json')
  writeFileSync(file, typeof body === 'string' ? body : JSON.stringify(body))
  return palmaresHere('import', '--format', format, '--database', made.url, ...options, file)
}

async function lines(type: string): Promise<DumpLine[]> {
  return (await exportFrom(made.store)).filter((line) => line.type === type)
}

const scores = async () => Object.fromEntries((await lines('auteur')).map(({ nom, score }) => [nom, score]))

describe.each(engines)('into %s', (engine) => {
  beforeEach(async () => {
    made = await makeStore(engine)
  })
  afterEach(() => made.close())

  const SCOREBOARD = new URL('../../../shared/data/source/404ctf-2025-scoreboard.json', import.meta.url)
  const PORTAL = new URL('../../../shared/data/portail.ndjson', import.meta.url)

  test.skipIf(!existsSync(SCOREBOARD))(
    "a real scoreboard of CTFd has the authors and scores of the same event's dump",
    async () => {
      expect(await imports('ctfd-scoreboard', readFileSync(SCOREBOARD, 'utf8'))).toMatchObject({ status: 0 })
      const expected = readFileSync(PORTAL, 'utf8')
        .split('\n')
        .filter((line) => line.includes('"type":"auteur"'))
        .map((line) => JSON.parse(line) as DumpLine)
      const found = (await lines('auteur')).map(({ id_auteur, nom, score }) => [id_auteur, nom, score])
      expect(found.length).toBeGreaterThan(2_800)
      expect(found).toEqual(
        expected
          .sort((a, b) => Number(a.id_auteur) - Number(b.id_auteur))
          .map(({ id_auteur, nom, score }) => [id_auteur, nom, score]),
      )
    },
  )

  test('a scoreboard sets names and scores; ids and scores may be texts, other fields are ignored', async () => {
    const { status, stderr } = await imports('ctfd-scoreboard', {
      success: true,
      data: [
        {
          pos: 9,
          account_id: 7,
          account_url: '/teams/7',
          account_type: 'team',
          name: 'a',
          score: 30,
          bracket_id: null,
        },
        { pos: 1, account_id: '8', name: 'a', score: '30.0', members: [{ id: 1, name: 'm', score: 30 }] },
        { pos: 3, account_id: 9, name: '', score: -5 },
      ],
    })
    expect(status).toBe(0)
    expect(stderr).toMatch(
      /warning: 1 account\(s\) without a name are called account-ID: 9\nwarning: 1 account\(s\) with a score below 0/,
    )
    expect(await lines('auteur')).toEqual([
      { type: 'auteur', id_auteur: 7, nom: 'a', score: 30 },
      { type: 'auteur', id_auteur: 8, nom: 'a', score: 30 },
      { type: 'auteur', id_auteur: 9, nom: 'account-9', score: 0 },
    ])
  })

  test('a later scoreboard changes scores; --replace removes accounts that it no longer lists', async () => {
    const board = (...entries: [number, number][]) => ({
      data: entries.map(([account_id, score]) => ({ account_id, name: `n${account_id}`, score })),
    })
    await imports('ctfd-scoreboard', board([1, 10], [2, 20]))
    expect(await imports('ctfd-scoreboard', board([1, 30]))).toMatchObject({ status: 0 })
    expect(await scores()).toEqual({ n1: 30, n2: 20 })
    await imports('ctfd-scoreboard', board([1, 30]), '--replace')
    expect(await scores()).toEqual({ n1: 30 })
  })

  const FEED = {
    tasks: ['warmup', { name: 'web 1' }, 'unsolved'],
    standings: [
      {
        pos: 1,
        team: 'Ünïcödé',
        score: 250,
        taskStats: { warmup: { points: 50, time: 1769860800.9 }, 'web 1': { points: 200, time: '1769860900' } },
        lastAccept: 1769860900,
      },
      { pos: 2, team: 'b', score: '70', taskStats: { warmup: { points: 48 }, bonus: { points: 22, time: null } } },
      { pos: 3, team: 'c', score: 0 },
      { pos: 4, team: 'd', score: -3, taskStats: [] },
    ],
  }

  test('a feed sets teams, tasks at the lowest points that any team got for them, and dated solves', async () => {
    const { status, stderr } = await imports('ctftime', FEED)
    expect(status).toBe(0)
    expect(stderr).toContain('warning: 1 team(s) with a score below 0 have 0; standings: 3\n')
    expect(await scores()).toEqual({ Ünïcödé: 250, b: 70, c: 0, d: 0 })
    expect(await lines('rubrique')).toEqual([{ type: 'rubrique', id_rubrique: stableId('Tasks'), nom: 'Tasks' }])
    const challenges = await lines('challenge')
    expect(Object.fromEntries(challenges.map(({ titre, score }) => [titre, score]))).toEqual({
      ...{ warmup: 48, 'web 1': 200, unsolved: 0, bonus: 22 },
    })
    expect(challenges.map(({ id_challenge }) => id_challenge).sort()).toEqual(
      ['warmup', 'web 1', 'unsolved', 'bonus'].map(stableId).sort(),
    )
    const solves = (await lines('validation')).map(({ id_auteur, id_challenge, date }) => [
      id_auteur,
      id_challenge,
      date,
    ])
    expect(solves.sort()).toEqual(
      [
        [stableId('Ünïcödé'), stableId('warmup'), '2026-01-31T12:00:00Z'],
        [stableId('Ünïcödé'), stableId('web 1'), '2026-01-31T12:01:40Z'],
        [stableId('b'), stableId('warmup'), undefined],
        [stableId('b'), stableId('bonus'), undefined],
      ].sort(),
    )
  })

  test('the last accepted solve is when the base of a score was reached; a time that is none is ignored with a warning', async () => {
    const times = [1_769_860_900.9, '1769860901', 0, null, undefined, 1_769_860_900_000, 'noon', -1, {}]
    const standings = times.map((lastAccept, i) => ({ team: `t${i}`, score: 9 - i, lastAccept }))
    const { status, stderr } = await imports('ctftime', { standings })
    expect(status).toBe(0)
    expect(stderr).toContain('warning: 4 team(s) have a lastAccept that is no time in seconds; standings: 5, 6, 7, 8\n')
    expect(Object.fromEntries((await lines('auteur')).map(({ nom, date_score }) => [nom, date_score]))).toEqual({
      ...Object.fromEntries(standings.map(({ team }) => [team, undefined])),
      ...{ t0: '2026-01-31T12:01:40Z', t1: '2026-01-31T12:01:41Z' },
    })
  })

  test('the bracket of an account is its group; one that is too long is left out with a warning', async () => {
    const brackets = ['Étudiants', null, undefined, '', ' ', '🚩'.repeat(100), 'x'.repeat(101)]
    const groups = ['Étudiants', undefined, undefined, undefined, undefined, '🚩'.repeat(100), undefined]
    const rows = brackets.map((bracket_name, i) => ({ account_id: i + 1, team: `t${i}`, name: `t${i}`, bracket_name }))
    const found = async () =>
      (await lines('auteur')).sort((a, b) => String(a.nom).localeCompare(String(b.nom))).map(({ groupe }) => groupe)
    const warning = (id: number) =>
      `warning: 1 group(s) of more than 100 characters are left out; bracket_name of: ${id}\n`
    const data = rows.map((row) => ({ ...row, score: 1 }))
    expect((await imports('ctfd-scoreboard', { data })).stderr).toContain(warning(7))
    expect(await found()).toEqual(groups)
    expect((await imports('ctftime', { standings: data }, '--replace')).stderr).toContain(warning(6))
    expect(await found()).toEqual(groups)
  })

  test("a feed written by CTFd's plugin is accepted, with success first, members and brackets", async () => {
    const member = { id: 5, oauth_id: null, name: 'm', score: 8_800, bracket_id: null, bracket_name: null }
    const entry = { pos: 1, account_id: 420, account_url: '/teams/420', account_type: 'team', oauth_id: null }
    const standings = [{ ...entry, team: 'a', score: 8_800, bracket_id: null, bracket_name: null, members: [member] }]
    expect(await imports('ctftime', { success: true, standings })).toMatchObject({ status: 0 })
    expect(await scores()).toEqual({ a: 8_800 })
  })

  test('importing the same feed again changes nothing, and another store gets the same ids', async () => {
    await imports('ctftime', FEED)
    const first = await exportFrom(made.store)
    expect((await imports('ctftime', FEED)).stdout).toMatch(/nothing changed\n/)
    await made.close()
    made = await makeStore(engine)
    await imports('ctftime', FEED)
    expect(await exportFrom(made.store)).toEqual(first)
  })

  test('teams with the same name stay separate, with a warning', async () => {
    const { stderr } = await imports('ctftime', { standings: [1, 2, 3].map((score) => ({ team: 'a', score })) })
    expect(stderr).toContain(
      'warning: 2 team(s) have the name of one before them, and the id of their order; standings: 1, 2\n',
    )
    const auteurs = await lines('auteur')
    expect(auteurs.map(({ score }) => score).sort()).toEqual([1, 2, 3])
    expect(auteurs.find(({ score }) => score === 1)?.id_auteur).toBe(stableId('a'))
  })

  test('--scale makes fractions whole, and ignores the rounding error of a sum', async () => {
    const standings = [
      { team: 'a', score: 0.1 + 0.2, taskStats: { x: { points: '0.30' } } },
      { team: 'b', score: '1e-1' },
      { team: 'c', score: 12 },
    ]
    expect(await imports('ctftime', { standings }, '--scale', '10')).toMatchObject({ status: 0 })
    expect(await scores()).toEqual({ a: 3, b: 1, c: 120 })
    expect((await lines('challenge')).map(({ score }) => score)).toEqual([3])
    const data = [{ account_id: 1, name: 'd', score: 2.5 }]
    expect(await imports('ctfd-scoreboard', { data }, '--scale', '2', '--replace')).toMatchObject({ status: 0 })
    expect(await scores()).toEqual({ d: 5 })
  })

  test('a feed without teams is accepted and changes nothing', async () => {
    await importInto(made.store, [{ type: 'auteur', id_auteur: 1, nom: 'x', score: 3 }])
    expect((await imports('ctftime', '\ufeff{"standings":[]}')).stdout).toBe('0 lines read, nothing changed\n')
    expect(await scores()).toEqual({ x: 3 })
  })
})

test('an id derived from a name is the first 52 bits of its SHA-256, the same everywhere', () => {
  expect(stableId('Web')).toBe(729_324_176_558_656)
  expect(stableId('abc')).toBe(0xba7816bf8f01c)
  for (let i = 0; i < 1_000; i++) expect(Number.isSafeInteger(stableId(String(i)))).toBe(true)
})
