import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { randomFrom } from '../../bench/random.js'
import { engines, importInto, type MadeStore, makeFolder, makeStore } from '../../test/harness.js'
import { palmaresHere } from '../../test/here.js'
import { feed as writeFeed } from '../ctftime/feed.js'
import { exportText } from '../portal/export/export.js'

let folder: string
let made: MadeStore
beforeAll(() => {
  folder = makeFolder()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Scoreboard {
  data: { pos: number; name: string; score: number }[]
}

const START = 1_769_860_800

type Standing = Record<string, unknown>
/** A standing of a feed; `time` is in seconds after the start. */
const team = (pos: unknown, team: string, score: number, time?: number): Standing => ({
  ...{ pos, team, score },
  ...(time === undefined ? {} : { lastAccept: START + time }),
})

async function imports(format: string, body: unknown, ...options: string[]) {
  const file = join(folder, 'feed.json')
  writeFileSync(file, typeof body === 'string' ? body : JSON.stringify(body))
  return palmaresHere('import', '--format', format, '--database', made.url, ...options, file)
}

/** What an import reports of the places. */
async function reported(format: string, body: unknown, ...options: string[]): Promise<string[]> {
  const { status, stdout, stderr } = await imports(format, body, ...options)
  expect([status, stderr]).toEqual([0, expect.not.stringContaining('error')])
  const lines = stdout.split('\n').slice(0, -1)
  const first = lines.findIndex((line) => line.startsWith('  places: '))
  return first === -1 ? [] : lines.slice(first)
}
const feed = (standings: Standing[], ...options: string[]) => reported('ctftime', { standings }, ...options)
const board = (data: unknown, ...options: string[]) => reported('ctfd-scoreboard', { success: true, data }, ...options)

/** The places of the portal, by name. */
async function places(): Promise<Record<string, number>> {
  const table = { format: 'json', withAccounts: false, ressource: 'classement' } as const
  const rows = JSON.parse(await made.store.read((db) => textOf(exportText(db, table))))
  return Object.fromEntries(rows.map(({ nom, place }: { nom: string; place: number }) => [nom, place]))
}

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}

const NO_TIMES = '  No setting reproduces the places of the file, because it has no times.'
/** The command is named only if fewer rows would differ than do now. */
const withSetting = (departage: string, nb: number | 'none', now = Infinity) =>
  `  With departage ${departage}, ${nb} would differ${Number(nb) >= now ? '' : `: palmares settings set departage ${departage}`}`
const withDate = (nb: number | 'none', now?: number) => withSetting('date', nb, now)

describe.each(engines)('the places of a file, compared with those of %s:', (engine) => {
  beforeEach(async () => {
    made = await makeStore(engine)
  })
  afterEach(() => made.close())

  const TIED = [team(1, 'a', 50, 3), team(2, 'b', 40, 9), team(3, 'c', 40, 10), team(4, 'd', 40, 11), team(5, 'e', 0)]

  test('rows that differ are counted and shown, with the setting that reproduces the file', async () => {
    expect(await feed(TIED)).toEqual([
      '  places: 2 of 5 differ from the file',
      '    "c": 3 in the file, 2 in the portal',
      '    "d": 4 in the file, 2 in the portal',
      withDate('none'),
    ])
    expect(await places()).toEqual({ a: 1, b: 2, c: 2, d: 2, e: 5 })
    expect(await feed(TIED, '--departage', 'date')).toEqual(['  places: all 5 are as in the file'])
    expect(await places()).toEqual({ a: 1, b: 2, c: 3, d: 4, e: 5 })
    expect(await feed(TIED, '--departage', 'aucun')).toContain('  places: 2 of 5 differ from the file')
    expect(await places()).toEqual({ a: 1, b: 2, c: 2, d: 2, e: 5 })
  })

  test.each<[string, Standing[], string[]]>([
    [
      'no times',
      [team(1, 'a', 5), team(2, 'b', 5)],
      ['  places: 1 of 2 differs from the file', '    "b": 2 in the file, 1 in the portal', NO_TIMES],
    ],
    ['no ties', [team(1, 'a', 5), team(2, 'b', 4)], ['  places: all 2 are as in the file']],
    [
      'shared places',
      [team(1, 'a', 5, 1), team(1, 'b', 5, 2), team(3, 'c', 4)],
      ['  places: all 3 are as in the file'],
    ],
    [
      'dense places',
      [team(1, 'a', 5), team(1, 'b', 5), team(2, 'c', 4), team(3, 'd', 3)],
      [
        '  places: 2 of 4 differ from the file',
        '    "c": 2 in the file, 3 in the portal',
        '    "d": 3 in the file, 4 in the portal',
        NO_TIMES,
      ],
    ],
    [
      'the same place for different scores',
      [team(1, 'a', 5, 1), team(1, 'b', 4, 1)],
      ['  places: 1 of 2 differs from the file', '    "b": 1 in the file, 2 in the portal', withDate(1, 1)],
    ],
    [
      'some times, and some of them contradict the places',
      [team(1, 'a', 5, 2), team(2, 'b', 5, 1), team(3, 'c', 4, 1), team(4, 'd', 4, 2), team(5, 'e', 4)],
      [
        '  places: 3 of 5 differ from the file',
        '    "b": 2 in the file, 1 in the portal',
        '    "d": 4 in the file, 3 in the portal',
        '    "e": 5 in the file, 3 in the portal',
        withDate(2),
      ],
    ],
    [
      'times in the same second',
      [team(1, 'a', 5, 1.25), team(2, 'b', 5, 1.75)],
      ['  places: 1 of 2 differs from the file', '    "b": 2 in the file, 1 in the portal', withDate(1, 1)],
    ],
    [
      'rows without a place, or with something else there',
      [
        ...[undefined, null, '', 'first', 1.5, 0, -1, {}, [2], true, '1.0', 1e16].map((pos, i) =>
          team(pos, `x${i}`, 90 - i),
        ),
        team('13', 'text', 20),
        team(15, 'off', 10),
      ],
      [
        '  places: 1 of 2 differs from the file; 12 without a place there',
        '    "off": 15 in the file, 14 in the portal',
        NO_TIMES,
      ],
    ],
    [
      'no place at all',
      [team(null, 'a', 5), team(undefined, 'b', 5)],
      ['  places: not compared, as the file has none'],
    ],
    ['no rows', [], []],
    [
      'places in another order than the rows',
      [team(3, 'c', 1), team(9, 'b', 2), team(1, 'a', 3)],
      ['  places: 1 of 3 differs from the file', '    "b": 9 in the file, 2 in the portal', NO_TIMES],
    ],
    [
      'more rows that differ than are shown, with names that a terminal would obey',
      ['\u001b[31mred', 'x'.repeat(70), 'c', 'd', 'e', 'f', 'g', 'h'].map((nom, i) => team(i + 1, nom, 5)),
      [
        '  places: 7 of 8 differ from the file',
        `    "${'x'.repeat(60)}…": 2 in the file, 1 in the portal`,
        ...['c', 'd', 'e', 'f'].map((nom, i) => `    "${nom}": ${i + 3} in the file, 1 in the portal`),
        '    and 2 more',
        NO_TIMES,
      ],
    ],
  ])('a file with %s', async (_, standings, lines) => {
    expect(await feed(standings)).toEqual(lines)
  })

  test('control characters of a name are escaped', async () => {
    const lines = await feed([team(1, 'a', 5), team(2, '\u001b[31m\u009b\n', 5)])
    expect(lines[1]).toBe('    "\\u001b[31m\\u009b\\n": 2 in the file, 1 in the portal')
  })

  test('counts are exact for random files, with each setting', async () => {
    const random = randomFrom(5)
    const pick = (max: number) => Math.floor(random() * max)
    for (let round = 0; round < 6; round++) {
      const rows = Array.from({ length: 40 }, (_, i) => ({
        ...{ team: `t${i}`, score: pick(6), pos: pick(5) === 0 ? null : 1 + pick(40) },
        ...(pick(3) === 0 ? {} : { lastAccept: START + pick(8) }),
      }))
      const timeOf = ({ lastAccept = Infinity }: { lastAccept?: number }) => lastAccept
      const count = (isBefore: (other: (typeof rows)[number], row: (typeof rows)[number]) => boolean) =>
        rows.filter((row) => row.pos !== null && row.pos !== 1 + rows.filter((other) => isBefore(other, row)).length)
          .length
      const aucun = count((other, row) => other.score > row.score)
      const date = count(
        (other, row) => other.score > row.score || (other.score === row.score && timeOf(other) < timeOf(row)),
      )
      const placed = rows.filter(({ pos }) => pos !== null).length
      const start = (nb: number) => expect.stringMatching(`^  places: ${nb} of ${placed} differs? from the file`)
      const shared = await feed(rows, '--replace', '--departage', 'aucun')
      expect([shared[0], shared.at(-1)]).toEqual([start(aucun), withDate(date, aucun)])
      const dated = await feed(rows, '--departage', 'date')
      expect([dated[0], dated.at(-1)]).toEqual([start(date), withSetting('aucun', aucun, date)])
    }
  })

  test('a portal with other authors is not compared, unless --replace removes them', async () => {
    await importInto(made.store, [{ type: 'auteur', id_auteur: 1, nom: 'there before', score: 45 }])
    expect(await feed(TIED)).toEqual(['  places: not compared, as the portal ranks 6 players and the file has 5'])
    expect(await feed([team(null, 'a', 50)])).toEqual(['  places: not compared, as the file has none'])
    expect(await feed(TIED, '--replace')).toContain('  places: 2 of 5 differ from the file')
    const hidden = { type: 'auteur', id_auteur: 1, nom: 'hidden', statut: '5poubelle', score: 45 }
    await importInto(made.store, [hidden])
    expect(await feed(TIED)).toContain('  places: 2 of 5 differ from the file')
  })

  test('times that the portal has from another file count', async () => {
    const solves = (time: number) => ({ x: { points: 7, time: START + time } })
    const standings = [
      { team: 'a', score: 7, taskStats: solves(1) },
      { team: 'b', score: 7, taskStats: solves(0) },
    ]
    expect(await feed(standings)).toEqual(['  places: not compared, as the file has none'])
    expect(await feed([team(2, 'a', 7), team(1, 'b', 7)])).toEqual([
      '  places: 1 of 2 differs from the file',
      '    "a": 2 in the file, 1 in the portal',
      withDate('none'),
    ])
  })

  const SCOREBOARD = new URL('../../../shared/data/source/404ctf-2025-scoreboard.json', import.meta.url)
  test.skipIf(!existsSync(SCOREBOARD))(
    'a real scoreboard without times: no setting reproduces its places',
    async () => {
      const text = readFileSync(SCOREBOARD, 'utf8')
      const { data } = JSON.parse(text) as Scoreboard
      const differing = data.filter(({ pos, score }) => pos !== 1 + data.filter((other) => other.score > score).length)
      const lines = await reported('ctfd-scoreboard', text)
      expect(lines[0]).toBe(`  places: ${differing.length} of ${data.length} differ from the file`)
      expect(lines[1]).toMatch(`    ${JSON.stringify(differing[0]?.name)}: ${differing[0]?.pos} in the file, `)
      expect(lines.slice(6)).toEqual([`    and ${differing.length - 5} more`, NO_TIMES])
      expect((await reported('ctfd-scoreboard', text, '--departage', 'date')).at(-1)).toBe(NO_TIMES)
    },
  )

  test.skipIf(!existsSync(SCOREBOARD))('the same as a feed with times: all 2,893 places are reproduced', async () => {
    const { data } = JSON.parse(readFileSync(SCOREBOARD, 'utf8')) as Scoreboard
    const standings = data.map(({ pos, name, score }) => team(pos, name, score, pos))
    expect((await feed(standings)).at(-1)).toBe(withDate('none'))
    expect(await feed(standings, '--departage', 'date')).toEqual(['  places: all 2893 are as in the file'])
  })

  test("the portal's own feed gives another store the same places, with either setting", async () => {
    const dump = [
      { type: 'rubrique', id_rubrique: 1, nom: 'r' },
      ...[10, 10, 0].map((score, i) => ({
        type: 'challenge',
        id_challenge: i + 1,
        id_rubrique: 1,
        titre: `c${i}`,
        score,
      })),
      ...[1, 2, 3, 4, 5, 6].map((id) => ({ type: 'auteur', id_auteur: id, nom: `a${id}` })),
      { type: 'auteur', id_auteur: 7, nom: 'base', score: 10, date_score: '2026-03-04T00:00:00Z' },
      { type: 'auteur', id_auteur: 8, nom: 'undated', score: 10 },
      // A later solve worth nothing breaks no tie.
      ...[
        [1, 1, 5],
        [2, 1, 3],
        [3, 2, 2],
        [3, 3, 9],
        [4, 1, 3],
        [5, 3, 1],
      ].map(([id_auteur, id_challenge, day]) => ({
        ...{ type: 'validation', id_auteur, id_challenge, date: `2026-03-0${day}T00:00:00Z` },
      })),
      { type: 'validation', id_auteur: 6, id_challenge: 1 },
    ]
    const other = await makeStore(engine)
    await importInto(other.store, dump)
    for (const departage of ['aucun', 'date'] as const) {
      await importInto(other.store, [], { departage })
      const text = await other.store.read((db) => textOf(writeFeed(db)))
      expect(await reported('ctftime', text, '--departage', departage)).toEqual(['  places: all 8 are as in the file'])
    }
    expect(await places()).toEqual({ a3: 1, a2: 2, a4: 2, base: 4, a1: 5, a6: 6, undated: 6, a5: 8 })
    await other.close()
  })

  test("CTFd's scoreboard by place has the dates of solves and awards, so its places are reproduced", async () => {
    const solve = (value: unknown, date: string | null) => ({ challenge_id: 1, account_id: 1, value, date })
    const data = {
      1: { id: 3, name: 'first', score: 30, solves: [solve(30, '2026-01-31T10:00:00+00:00')] },
      2: {
        ...{ id: 1, name: 'award', score: 30, bracket_name: 'Students' },
        solves: [
          solve(20, '2026-01-31T10:00:00+00:00'),
          { ...solve(10, '2026-01-31T10:00:01.5Z'), challenge_id: null },
          solve(0, '2026-02-01T00:00:00Z'),
        ],
      },
      3: { id: 2, name: 'last', score: '30', solves: [solve(30, '2026-01-31T11:00:00'), solve(5, null)] },
    }
    expect(await board(data)).toEqual([
      '  places: 2 of 3 differ from the file',
      '    "award": 2 in the file, 1 in the portal',
      '    "last": 3 in the file, 1 in the portal',
      withDate('none'),
    ])
    expect(await board(data, '--departage', 'date')).toEqual(['  places: all 3 are as in the file'])
    expect(await places()).toEqual({ first: 1, award: 2, last: 3 })
  })
})
