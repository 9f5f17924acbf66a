import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  award,
  challenge,
  contest,
  ctfdZip,
  SECRETS,
  solve,
  submission,
  type Tables,
  team,
  user,
} from '../../../test/ctfd.js'
import { type DumpLine, engines, exportFrom, type MadeStore, makeFolder, makeStore } from '../../../test/harness.js'
import { palmaresHere } from '../../../test/here.js'
import type { Run } from '../../../test/palmares.js'
import { type ZipEntry, zip } from '../../../test/zip.js'
import { findRanked } from '../../classement/rank.js'
import { classement } from '../../store/orders.js'
import { stableId } from '../stable-ids.js'

let folder: string
beforeAll(() => {
  folder = makeFolder()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(engines)('an export of CTFd into %s', (engine) => {
  let made: MadeStore
  beforeEach(async () => {
    made = await makeStore(engine)
  })
  afterEach(() => made.close())

  async function imports(tables: Tables | Buffer, ...options: string[]): Promise<Run> {
    const file = join(folder, 'export.zip')
    writeFileSync(file, Buffer.isBuffer(tables) ? tables : ctfdZip(tables))
    return palmaresHere('import', '--format', 'ctfd', '--database', made.url, ...options, file)
  }

  async function lines(type: string): Promise<DumpLine[]> {
    return (await exportFrom(made.store)).filter((line) => line.type === type)
  }

  const scores = async () =>
    Object.fromEntries((await lines('auteur')).map(({ id_auteur, score }) => [id_auteur, score]))

  test('each visible account is an author whose score is the current value of its solves plus awards, never below 0', async () => {
    expect(await imports(contest())).toMatchObject({ status: 0 })
    expect(await lines('auteur')).toEqual([
      { type: 'auteur', id_auteur: 1, nom: 'alice', score: 100 + 376 + 50, date_score: '2026-02-02T00:00:00Z' },
      { type: 'auteur', id_auteur: 2, nom: 'alice', score: 100 },
      {
        ...{ type: 'auteur', id_auteur: 3, nom: 'user-3', score: 0 },
        ...{ date_score: '2026-01-31T18:00:00Z' },
      },
      {
        ...{ type: 'auteur', id_auteur: 6, nom: 'Élodie 🚩', score: 0 },
        ...{ date_score: '2026-01-31T13:30:00Z' },
      },
    ])
  })

  test('with --departage date, places are those of CTFd: equal scores by the latest solve or award that is not worth 0', async () => {
    const at = (minute: number) => `2026-01-31T10:${String(minute).padStart(2, '0')}:00`
    const solved = [
      [1, 1, 10],
      [2, 1, 5],
      [3, 1, 7],
      [4, 1, 1],
      [4, 2, 30],
      [5, 2, 3],
      [5, 1, 4],
    ] as const
    const tables = contest({
      users: [1, 2, 3, 4, 5, 6].map((id) => user(id, { name: `u${id}` })),
      challenges: [challenge(1, { value: 100 }), challenge(2, { value: 0 }), challenge(4, { value: -25 })],
      dynamic_challenge: [],
      solves: [...solved.map(([who, what], i) => solve(i + 1, who, what)), solve(8, 6, 1), solve(9, 6, 4)],
      submissions: [
        ...solved.map(([, , minute], i) => submission(i + 1, at(minute))),
        submission(8, at(2)),
        submission(9, at(8)),
      ],
      awards: [award(1, 3, 0, at(40)), award(2, 5, 50, at(20)), award(3, 5, -50, at(6)), award(4, 6, 25, at(3))],
    })
    expect(await imports(tables, '--departage', 'date')).toMatchObject({ status: 0 })
    const ranked = await made.store.read((db) => findRanked(db, classement))
    expect(ranked.rows.map(({ nom, place }) => [nom, place])).toEqual(
      ['u4', 'u2', 'u3', 'u6', 'u1', 'u5'].map((nom, i) => [nom, i + 1]),
    )
  })

  test('the bracket of an account is its group, in users and in teams mode', async () => {
    const brackets = [
      { id: 1, name: 'Étudiants', description: '', type: 'users' },
      { id: 2, name: 'x'.repeat(101) },
    ]
    const columns = [{ bracket_id: 1 }, { bracket_id: null }, { bracket_id: '2' }, {}]
    const users = columns.map((row, i) => user(i + 1, row))
    const none = { solves: [], submissions: [], awards: [] }
    const groups = async () => (await lines('auteur')).map(({ groupe }) => groupe)
    const { stderr } = await imports(contest({ users, brackets, ...none }))
    expect(stderr).toContain('warning: 1 group(s) of more than 100 characters are left out; name of: 2\n')
    expect(await groups()).toEqual(['Étudiants', undefined, undefined, undefined])
    await imports(contest({ users, ...none }))
    expect(await groups()).toEqual([undefined, undefined, undefined, undefined])
    const config = [{ id: 1, key: 'user_mode', value: 'teams' }]
    const teams = [team(1), team(2, { bracket_id: 1 })]
    await imports(contest({ config, teams, brackets, ...none }), '--replace')
    expect(await groups()).toEqual([undefined, 'Étudiants'])
  })

  test('each visible challenge is imported: its page, its description as HTML, its current value, a category with an id derived from its name', async () => {
    await imports(contest())
    expect((await lines('rubrique')).sort((a, b) => String(a.nom).localeCompare(String(b.nom)))).toEqual([
      { type: 'rubrique', id_rubrique: stableId('Crypto'), nom: 'Crypto' },
      { type: 'rubrique', id_rubrique: stableId('Uncategorized'), nom: 'Uncategorized' },
      { type: 'rubrique', id_rubrique: stableId('Web'), nom: 'Web' },
    ])
    const challenges = await lines('challenge')
    expect(challenges.map(({ id_challenge, titre, score }) => [id_challenge, titre, score])).toEqual([
      [1, 'Livre d’or / 100 %', 100],
      [2, 'Dynamic', 376],
      [3, 'Fresh', 500],
      [4, 'Trap', 0],
      [6, 'challenge-6', 10],
    ])
    expect(challenges[0]).toMatchObject({
      id_rubrique: stableId('Web'),
      descriptif: '<p>A <strong>book</strong>.</p>\n<p><b>x</b></p>',
      url_challenge: 'challenges#Livre%20d%E2%80%99or%20%2F%20100%20%25-1',
    })
  })

  test('a solve has the date of its submission in UTC; of two for one challenge, the earliest counts', async () => {
    await imports(contest())
    expect(
      (await lines('validation')).map(({ id_auteur, id_challenge, date }) => [id_auteur, id_challenge, date]),
    ).toEqual([
      [1, 1, '2026-01-31T10:00:00Z'],
      [1, 2, '2026-02-01T12:00:00Z'],
      [2, 1, '2026-01-31T11:00:00Z'],
      [3, 2, '2026-01-31T16:00:00Z'],
      [6, 4, '2026-01-31T13:30:00Z'],
    ])
  })

  test('records left out or adapted are reported by counts and ids', async () => {
    const { stdout, stderr } = await imports(contest())
    expect(stdout.split('\n').filter((line) => line.includes('left out'))).toEqual([
      '  left out: 2 user(s) that are hidden or banned',
      '  left out: 1 challenge(s) that are not visible',
      '  left out: 2 solve(s) of hidden challenges or accounts',
      '  left out: 1 award(s) of hidden accounts',
    ])
    expect(stderr.split('\n').filter((line) => line.startsWith('warning: '))).toEqual([
      'warning: 1 user(s) without a name are called user-ID: 3',
      'warning: 1 challenge(s) without a category are put under Uncategorized: 3',
      'warning: 1 challenge(s) without a value are worth their initial one: 3',
      'warning: 1 solve(s) of the same account and challenge; the earliest of them counts, once: 18',
      'warning: 2 user(s) with a score below 0 have 0: 3, 6',
      'warning: 1 challenge(s) worth less than 0 are shown as worth 0; scores count what they are worth: 4',
      'warning: 1 challenge(s) without a name are called challenge-ID: 6',
    ])
  })

  test('no flag, hint, token, mail, address, password, answer, setting or hidden name is imported or printed', async () => {
    const tables = contest()
    const whole = JSON.stringify(tables)
    for (const secret of Object.values(SECRETS)) expect(whole).toContain(secret)
    const { stdout, stderr } = await imports(tables)
    const exported = JSON.stringify(await exportFrom(made.store, { withAccounts: true }))
    const path = made.url.replace('sqlite:', '')
    const files = engine === 'sqlite' ? [path, `${path}-wal`].map((file) => readFileSync(file, 'latin1')) : []
    if (engine === 'sqlite') expect(files.join()).toContain('Dynamic')
    for (const secret of Object.values(SECRETS)) {
      for (const place of [stdout, stderr, exported, ...files]) expect(place.includes(secret), secret).toBe(false)
    }
  })

  test('--freeze leaves out solves and awards dated at the freeze or later', async () => {
    const { status, stdout } = await imports(contest(), '--freeze')
    expect(status).toBe(0)
    expect(stdout).toMatch(/left out: 1 solve\(s\) at the freeze or after it\n {2}left out: 1 award\(s\) at the freeze/)
    expect(await scores()).toEqual({ 1: 100, 2: 100, 3: 0, 6: 0 })
    expect(
      (await lines('validation')).map(({ id_auteur, id_challenge }) => [id_auteur, id_challenge]),
    ).not.toContainEqual([1, 2])
  })

  test('in teams mode teams are the authors, and users without a team are left out', async () => {
    const tables = contest({
      config: [{ id: 1, key: 'user_mode', value: 'teams' }],
      users: undefined,
      teams: [team(1), team(2), team(3, { name: SECRETS.hidden, hidden: true })],
      solves: [
        solve(11, 1, 1, { team_id: 2 }),
        solve(12, 2, 2, { team_id: 2 }),
        solve(13, 2, 1, { team_id: null }),
        solve(14, 1, 2, { team_id: 3 }),
      ],
      awards: [award(1, 1, 7, '2026-01-31T10:00:00', { team_id: 1 }), award(2, 9, 5, '2026-01-31T10:00:00')],
    })
    const { status, stdout } = await imports(tables)
    expect(status).toBe(0)
    expect(await lines('auteur')).toEqual([
      { type: 'auteur', id_auteur: 1, nom: 'team 1', score: 7, date_score: '2026-01-31T10:00:00Z' },
      { type: 'auteur', id_auteur: 2, nom: 'team 2', score: 476 },
    ])
    expect(stdout).toContain('left out: 1 solve(s) without a team\n')
    expect(stdout).toContain('left out: 1 award(s) without a team\n')
  })

  test('a later export updates, and a repeated one changes nothing; --replace applies bans and removed solves', async () => {
    await imports(contest())
    const first = await exportFrom(made.store)
    expect((await imports(contest())).stdout).toMatch(/lines read, nothing changed\n/)
    expect(await exportFrom(made.store)).toEqual(first)
    const later = contest({
      users: [user(1, { name: 'alicia' }), user(2, { banned: 1 }), user(3), user(4, { hidden: 1 }), user(6), user(7)],
      solves: [solve(11, 1, 1), solve(21, 7, 2), solve(15, 4, 1)],
      submissions: [submission(11, '2026-01-31T10:00:00'), submission(21, '2026-02-03T10:00:00'), submission(15, null)],
      challenges: [challenge(1, { value: 90 }), challenge(2, { category: 'Crypto', value: 350 })],
      awards: [],
    })
    expect(await imports(later)).toMatchObject({ status: 0 })
    expect(await scores()).toEqual({ 1: 90, 2: 90, 3: 0, 6: 0, 7: 350 })
    expect(await lines('validation')).toHaveLength(6)
    expect(await imports(later, '--replace')).toMatchObject({ status: 0 })
    expect(await scores()).toEqual({ 1: 90, 3: 0, 6: 0, 7: 350 })
    expect(await lines('validation')).toHaveLength(2)
    expect((await lines('rubrique')).map(({ id_rubrique }) => id_rubrique).sort()).toEqual(
      [stableId('Web'), stableId('Crypto')].sort(),
    )
  })

  test('a change of scores only is reported', async () => {
    await imports(contest())
    const awards = [
      ...[award(1, 1, 61, '2026-02-02T00:00:00'), award(2, 3, -300, '2026-01-31T18:00:00')],
      award(4, 6, null, '2026-01-31T18:00:00'),
    ]
    const { stdout } = await imports(contest({ awards }))
    expect(stdout).toContain('lines read\n  auteur: 2 scores changed\n')
    expect(await scores()).toEqual({ 1: 537, 2: 100, 3: 76, 6: 0 })
  })
})

describe('variants of an export', () => {
  let made: MadeStore
  beforeEach(async () => {
    made = await makeStore()
  })
  afterEach(() => made.close())

  async function imports(archive: Tables | Buffer): Promise<Run> {
    const file = join(folder, 'other.zip')
    writeFileSync(file, Buffer.isBuffer(archive) ? archive : ctfdZip(archive))
    return palmaresHere('import', '--format', 'ctfd', '--database', made.url, file)
  }
  const shown = async (tables: Tables | Buffer) => {
    expect(await imports(tables)).toMatchObject({ status: 0 })
    return exportFrom(made.store)
  }

  test('compression, an extra folder and extra files make no difference', async () => {
    const plain = await shown(contest())
    const entries = Object.entries(contest()).map(([table, rows]): ZipEntry => {
      const data =
        rows?.length === 0 ? '' : JSON.stringify({ meta: { a: [1] }, results: rows, count: rows?.length, x: 1 })
      return { name: `export 2026/db/${table}.json`, data, isDeflated: true }
    })
    const others = [
      { name: '__MACOSX/export 2026/db/._users.json', data: 'x' },
      { name: 'uploads/', data: '', mode: 0o040755 },
    ]
    expect((await imports(zip([...entries, ...others]))).stdout).toContain('nothing changed')
    expect(await exportFrom(made.store)).toEqual(plain)
  })

  test('solves with their own dates need no submissions', async () => {
    const tables = contest({
      submissions: undefined,
      solves: [solve(1, 1, 1, { date: '2026-01-31T10:00:00' }), solve(2, 2, 1, { date: '2026-01-31T10:00:00+02:00' })],
    })
    expect((await shown(tables)).filter(({ type }) => type === 'validation').map(({ date }) => date)).toEqual([
      '2026-01-31T10:00:00Z',
      '2026-01-31T08:00:00Z',
    ])
  })

  test('a challenge without a state is visible unless hidden; an unknown state is not visible', async () => {
    const { state: _, ...stateless } = challenge(1)
    const tables = contest({
      challenges: [
        stateless,
        { ...stateless, id: 2, hidden: 1 },
        challenge(3, { state: 'locked' }),
        challenge(4, { state: null }),
      ],
      solves: [],
      submissions: [],
    })
    const ids = (await shown(tables)).filter(({ type }) => type === 'challenge').map(({ id_challenge }) => id_challenge)
    expect(ids).toEqual([1])
  })

  test('unknown columns and tables are ignored', async () => {
    const plain = await shown(contest())
    const later = contest({
      brackets: [{ id: 1, name: 'x' }],
      solves: (contest().solves as object[]).map((row) => ({ ...row, new: 1 })),
    })
    expect(await shown(later)).toEqual(plain)
  })

  test('a contest that has not started is imported; its empty tables are empty files', async () => {
    const tables = contest({
      users: [],
      challenges: [],
      dynamic_challenge: [],
      solves: [],
      submissions: [],
      awards: [],
    })
    expect(await shown(tables)).toEqual([])
  })

  test('the page address of a challenge with a very long name is shortened between two characters', async () => {
    const [line] = (
      await shown(contest({ challenges: [challenge(1, { name: 'é🚩'.repeat(450) })], solves: [], submissions: [] }))
    ).filter(({ type }) => type === 'challenge')
    const url = String(line?.url_challenge)
    expect(url.length).toBeGreaterThan(1_980)
    expect(url.length).toBeLessThanOrEqual(2_000)
    expect(decodeURIComponent(url)).toMatch(/^challenges#(é🚩)+é?-1$/u)
  })
})
