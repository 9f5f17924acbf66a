import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  ACCOUNT,
  addAccount,
  type DumpLine,
  engines,
  exportFrom,
  importInto,
  OPERATOR,
  startServer,
  type TestServer,
  waitForChanges,
} from '../../test/harness.js'
import { palmaresHere } from '../../test/here.js'
import { watchedStore } from '../../test/watched.js'
import { problemOf, sessionOf } from '../../test/wire.js'
import type { JournalEntry } from '../store/changes.js'
import { checkPortal, repairPortal } from './check.js'
import { ImportError } from './import.js'
import { ingest } from './live/ingest.js'
import { changeGel, changeSetting } from './settings.js'

const GEL = '2026-03-10T00:00:00Z'
const [BEFORE, BEFORE_2] = ['2026-03-09T00:00:00Z', '2026-03-09T12:00:00Z']
const [AFTER, LATER, LATEST] = ['2026-03-11T00:00:00Z', '2026-03-12T00:00:00Z', '2026-03-13T00:00:00Z']

const solve = (id_auteur: number, id_challenge: number, date?: string | null, more: DumpLine = {}): DumpLine => ({
  ...{ type: 'validation', id_auteur, id_challenge },
  ...(date !== undefined && { date }),
  ...more,
})
const frozen = (id_auteur: number, id_challenge: number, date?: string) =>
  solve(id_auteur, id_challenge, date, { gelee: true })

const PORTAL: DumpLine[] = [
  { type: 'rubrique', id_rubrique: 1, nom: 'r' },
  ...[1, 2, 3, 4].map((id) => ({ type: 'auteur', id_auteur: id, nom: `a${id}` })),
  ...[1, 2, 3].map((id) => ({ type: 'challenge', id_challenge: id, id_rubrique: 1, titre: `c${id}`, score: 10 * id })),
  solve(1, 1, '2026-03-01T00:00:00Z'),
  solve(2, 1, LATER),
  solve(3, 1),
]

/** Every kind of read that solves may show in. */
const READS = [
  ...['/auteurs', '/auteurs/1', '/auteurs/2', '/auteurs/4', '/auteurs/4/progression', '/auteurs?nom=a'],
  ...['/challenges', '/challenges/1', '/challenges/2', '/challenges/2/validations', '/challenges/2/progression'],
  ...['/classement', '/classement?autour_de=4', '/classement?id_rubrique=1', '/classement?periode=2026-03'],
  ...['/classement?periode=2026', '/classement/periodes', '/classement/histogramme', '/rubriques', '/ctftime'],
  ...['/rootme/challenges/2', '/rootme/auteurs/4', '/rootme/classement', '/compte'],
]

describe.each(engines)('a freeze on %s', (engine) => {
  let server: TestServer
  beforeEach(async () => {
    server = await startServer(PORTAL, { engine })
    await changeSetting(server.store, 'departage', 'date')
  })
  afterEach(() => server.close())

  const freeze = (gel: string | undefined = GEL) => changeGel(server.store, gel)
  const unfreeze = () => changeGel(server.store, undefined)
  const send = (...lines: DumpLine[]) =>
    ingest(
      server.store,
      lines.map((line, i) => ({ number: i + 1, text: JSON.stringify(line) })),
    )
  const sent = async (...lines: DumpLine[]) => (await send(...lines)).map(({ resultat }) => resultat)
  /** The shown validations and the frozen ones, in the order of a dump. */
  const stored = async () => {
    const lines = (await exportFrom(server.store, { withGelees: true })).filter(({ type }) => type === 'validation')
    return { shown: lines.filter(({ gelee }) => !gelee), frozen: lines.filter(({ gelee }) => gelee) }
  }
  const shownAtFirst = PORTAL.filter(({ type }) => type === 'validation')
  const journal = () =>
    server.store.read((db) => db.select<JournalEntry & { curseur: number }>('select * from journal order by curseur'))
  const responses = async () => {
    await waitForChanges(server)
    const read = async (path: string): Promise<[string, string]> => {
      const answer = await server.get(path)
      // A search may be too slow on a busy machine.
      return answer.status === 503 ? read(path) : [path, await answer.text()]
    }
    return Promise.all(READS.map(read))
  }
  const expectSound = async () =>
    expect((await checkPortal(server.store)).findings.flatMap(({ faults }) => faults)).toEqual([])

  test('stores later and undated validations where no response, export, journal line or version shows them', async () => {
    await freeze()
    const before = [await responses(), await journal(), await server.store.versions(), await exportFrom(server.store)]
    expect(await sent(solve(4, 2, AFTER), solve(4, 3), solve(1, 2, AFTER), solve(3, 3, null))).toEqual(
      Array(4).fill('gelee'),
    )
    await importInto(server.store, [solve(2, 2, LATEST), solve(2, 3)])
    const after = [await responses(), await journal(), await server.store.versions(), await exportFrom(server.store)]
    expect(after).toEqual(before)
    expect(await stored()).toEqual({
      shown: shownAtFirst,
      frozen: [
        ...[frozen(1, 2, AFTER), frozen(2, 2, LATEST), frozen(2, 3), frozen(3, 3)],
        ...[frozen(4, 2, AFTER), frozen(4, 3)],
      ],
    })
    for (const format of ['csv', 'json', 'ndjson']) {
      const { stdout } = await palmaresHere(
        ...['export', 'validations', '--format', format, '--database', server.database],
      )
      expect(stdout).not.toMatch(/gelee|2026-03-11/)
    }
    await expectSound()
  })

  test('a validation dated up to the freeze is applied at once, and is no longer frozen', async () => {
    await freeze()
    expect(await sent(solve(4, 2, GEL), solve(4, 3, AFTER), solve(4, 3, BEFORE), solve(4, 3, AFTER))).toEqual([
      ...['appliquee', 'gelee', 'appliquee', 'connue'],
    ])
    expect(await stored()).toEqual({ shown: [...shownAtFirst, solve(4, 2, GEL), solve(4, 3, BEFORE)], frozen: [] })
    await waitForChanges(server)
    expect(await server.json('/auteurs/4')).toMatchObject({ score: 50 })
    await expectSound()
  })

  test('validations that are shown already stay; sending one again, with any later date, is known', async () => {
    await freeze()
    const again = [solve(1, 1, '2026-03-01T00:00:00Z'), solve(1, 1), solve(1, 1, AFTER), frozen(1, 1, BEFORE)]
    expect(await sent(...again, solve(2, 1, LATER), solve(2, 1, LATEST), solve(3, 1, AFTER))).toEqual(
      Array(7).fill('connue'),
    )
    expect(await stored()).toEqual({ shown: shownAtFirst, frozen: [] })
    expect(await sent(solve(2, 1, BEFORE))).toEqual(['appliquee'])
    await importInto(server.store, [solve(1, 1, LATEST), solve(3, 1, AFTER), frozen(2, 1, BEFORE_2)])
    expect(await stored()).toEqual({ shown: [shownAtFirst[0], solve(2, 1, BEFORE), shownAtFirst[2]], frozen: [] })
    await expectSound()
  })

  test('a new line replaces the frozen one, but no unknown date a known one; a removal removes both', async () => {
    await freeze()
    expect(await sent(solve(4, 2, AFTER), solve(4, 2, LATER), solve(4, 2), solve(4, 2, LATER))).toEqual(
      Array(4).fill('gelee'),
    )
    expect((await stored()).frozen).toEqual([frozen(4, 2, LATER)])
    const before = [await journal(), await server.store.versions()]
    const remove = solve(4, 2, undefined, { supprime: true })
    expect(await sent(remove, remove)).toEqual(['appliquee', 'connue'])
    expect([await journal(), await server.store.versions()]).toEqual(before)
    expect(await stored()).toEqual({ shown: shownAtFirst, frozen: [] })
    expect(await sent(solve(1, 1, undefined, { supprime: true }), solve(1, 1, AFTER))).toEqual(['appliquee', 'gelee'])
    expect(await sent(solve(2, 2, AFTER), remove, solve(2, 2, undefined, { supprime: true }))).toEqual([
      ...['gelee', 'connue', 'appliquee'],
    ])
    expect(await stored()).toEqual({ shown: shownAtFirst.slice(1), frozen: [frozen(1, 1, AFTER)] })
    await expectSound()
  })

  test('a partial line changes a frozen validation too', async () => {
    await freeze()
    const partial = (line: DumpLine) => ({ ...line, partiel: true })
    expect(await sent(partial(solve(4, 2, LATER)), solve(4, 2, AFTER), partial(solve(4, 2, LATER)))).toEqual([
      ...['refusee', 'gelee', 'gelee'],
    ])
    expect((await stored()).frozen).toEqual([frozen(4, 2, LATER)])
    expect(await sent(partial(solve(4, 2)), partial(solve(4, 2, null)), partial(solve(1, 1)))).toEqual([
      ...['gelee', 'gelee', 'connue'],
    ])
    expect((await stored()).frozen).toEqual([frozen(4, 2, LATER)])
    expect(await sent(partial(solve(4, 2, BEFORE)))).toEqual(['appliquee'])
    expect((await stored()).frozen).toEqual([])
    expect(await sent(frozen(4, 3, BEFORE), partial(solve(4, 3)))).toEqual(['gelee', 'gelee'])
    expect((await stored()).frozen).toEqual([frozen(4, 3, BEFORE)])
    await expectSound()
  })

  test('a marked line is frozen whatever its date, and refused with advice while there is no freeze', async () => {
    const reason = /^gelee needs the setting gel, which is not set; set it \(palmares settings set gel INSTANT\)/
    const refused = { resultat: 'refusee', raison: expect.stringMatching(reason) }
    expect(await send(frozen(4, 2, AFTER), solve(4, 3, AFTER), frozen(99, 1))).toMatchObject([
      refused,
      { resultat: 'appliquee' },
      { resultat: 'refusee' },
    ])
    const lines = [solve(4, 2, AFTER), frozen(4, 1, AFTER)]
    await expect(importInto(server.store, lines)).rejects.toThrow(/^line 2: gelee needs the setting gel/)
    expect((await stored()).shown).toEqual([...shownAtFirst, solve(4, 3, AFTER)])
    await freeze()
    expect(await sent(frozen(4, 2, BEFORE), solve(4, 1, BEFORE, { gelee: false }))).toEqual(['gelee', 'appliquee'])
    await importInto(server.store, [frozen(4, 2, BEFORE_2), frozen(1, 3, BEFORE)])
    expect((await stored()).frozen).toEqual([frozen(1, 3, BEFORE), frozen(4, 2, BEFORE_2)])
    expect(await send({ ...solve(1, 2, BEFORE), gelee: 'oui' })).toMatchObject([
      { resultat: 'refusee', raison: 'gelee must be true or false, not a text' },
    ])
    expect(await send({ type: 'auteur', id_auteur: 1, nom: 'x', gelee: true })).toMatchObject([
      { resultat: 'refusee', champs_inconnus: ['gelee'] },
    ])
    await expectSound()
  })

  test('a line that names a missing author or challenge is refused, frozen or not', async () => {
    await freeze()
    const [one, two] = await send(solve(99, 1, AFTER), solve(1, 99))
    expect(one).toMatchObject({ raison: 'id_auteur names 99, which auteurs does not have' })
    expect(two).toMatchObject({ raison: 'id_challenge names 99, which challenges does not have' })
    await expect(importInto(server.store, [solve(1, 99)])).rejects.toThrow(ImportError)
    expect((await stored()).frozen).toEqual([])
  })

  test('an import freezes, replaces and removes like live lines, and says how many; --replace removes what it does not name', async () => {
    await freeze()
    const first = await importInto(server.store, [solve(4, 2, AFTER), solve(4, 3, LATER), solve(1, 2, BEFORE)])
    expect(first.tallies).toContainEqual({ type: 'validation', added: 1, changed: 0, removed: 0, listed: 0 })
    expect(first.tallies.at(-1)).toEqual({ type: 'validation gelee', added: 2, changed: 0, removed: 0, listed: 0 })
    const before = await server.store.versions()
    const again = await importInto(server.store, [
      ...[solve(4, 2, AFTER), solve(4, 3), solve(1, 2, undefined, { supprime: true })].slice(0, 2),
    ])
    expect(again.tallies.at(-1)).toEqual({ type: 'validation gelee', added: 0, changed: 1, removed: 0, listed: 0 })
    expect(await server.store.versions()).toEqual(before)
    expect((await stored()).frozen).toEqual([frozen(4, 2, AFTER), frozen(4, 3)])
    await importInto(server.store, [solve(4, 2, BEFORE), solve(4, 3, undefined, { supprime: true }), solve(3, 3)])
    expect((await stored()).frozen).toEqual([frozen(3, 3)])
    // The shown ones that a replacing dump names later stay; those it does not name go, and so do frozen ones.
    await importInto(server.store, [...PORTAL.slice(0, 8), solve(1, 1, LATEST), solve(2, 3, AFTER)], { replace: true })
    expect(await stored()).toEqual({ shown: [shownAtFirst[0]], frozen: [frozen(2, 3, AFTER)] })
    await importInto(server.store, PORTAL.slice(0, 8), { replace: true })
    expect(await stored()).toEqual({ shown: [], frozen: [] })
    await expectSound()
  })

  test('without a freeze, live lines run no statement about frozen validations', async () => {
    const texts: string[] = []
    const watched = watchedStore(server.store, (db) => ({
      exec: (sql, ...values) => {
        texts.push(sql)
        return db.exec(sql, ...values)
      },
      select: (sql, ...values) => {
        texts.push(sql)
        return db.select(sql, ...values)
      },
    }))
    const apply = () =>
      ingest(
        watched,
        [solve(4, 2, AFTER), solve(4, 3)].map((line, i) => ({ number: i + 1, text: JSON.stringify(line) })),
      )
    await apply()
    expect(texts.length).toBeGreaterThan(10)
    expect(texts.filter((sql) => sql.includes('validations_gelees') || sql.includes('l.gelee'))).toEqual([])
    await freeze()
    await apply()
    expect(texts.filter((sql) => sql.includes('validations_gelees'))).not.toEqual([])
  })

  test('the score of a line is the score that is shown: frozen validations add to it later', async () => {
    await freeze()
    await send(solve(4, 2, AFTER), { type: 'auteur', id_auteur: 4, nom: 'a4', score: 50 })
    await importInto(server.store, [{ type: 'auteur', id_auteur: 3, nom: 'a3', score: 15 }, solve(3, 3)])
    await waitForChanges(server)
    expect(await server.json('/auteurs/4')).toMatchObject({ score: 50 })
    expect(await server.json('/auteurs/3')).toMatchObject({ score: 15 })
    await unfreeze()
    await waitForChanges(server)
    expect(await server.json('/auteurs/4')).toMatchObject({ score: 70 })
    expect(await server.json('/auteurs/3')).toMatchObject({ score: 45 })
  })

  test('unset applies all in the order of their dates, with the journal lines of live solves, in the next response', async () => {
    await freeze()
    await send(solve(4, 3), solve(4, 2, LATEST), solve(1, 2, AFTER), solve(2, 2, LATER))
    const { length } = await journal()
    const change = await unfreeze()
    expect(change).toEqual({ isChanged: true, applied: 4, known: 0, refused: [] })
    const lines = (await journal()).slice(length).map(({ type, id_auteur }) => [type, id_auteur])
    expect(lines).toEqual([['portail', null], ...[1, 2, 4, 4].map((id) => ['validation', id]), ['classement', null]])
    const all = [
      ...[...shownAtFirst.slice(0, 1), solve(1, 2, AFTER), shownAtFirst[1], solve(2, 2, LATER), shownAtFirst[2]],
      ...[solve(4, 2, LATEST), solve(4, 3)],
    ]
    expect(await stored()).toEqual({ shown: all, frozen: [] })
    await waitForChanges(server)
    const rows = await server.json<{ id_auteur: string; place: number }[]>('/classement')
    expect(rows.map(({ id_auteur }) => id_auteur)).toEqual(['4', '1', '2', '3'])
    expect(await server.json('/challenges/2')).toMatchObject({ premiere_validation: { id_auteur: '1', date: AFTER } })
    await expectSound()
  })

  test('a later instant applies what is dated up to it; an earlier one freezes nothing that is shown', async () => {
    await freeze()
    await send(solve(4, 3), solve(4, 2, LATEST), solve(1, 2, AFTER), solve(2, 2, LATER))
    expect(await freeze(LATER)).toEqual({ isChanged: true, applied: 2, known: 0, refused: [] })
    expect((await stored()).frozen).toEqual([frozen(4, 2, LATEST), frozen(4, 3)])
    expect(await freeze(LATER)).toEqual({ isChanged: false, applied: 0, known: 0, refused: [] })
    const { shown } = await stored()
    expect(await freeze(BEFORE)).toEqual({ isChanged: true, applied: 0, known: 0, refused: [] })
    expect((await stored()).shown).toEqual(shown)
    expect(await sent(solve(3, 3, BEFORE_2))).toEqual(['gelee'])
    await expectSound()
  })

  test('frozen validations outlive their author and challenge: unset reports those whose records are gone', async () => {
    await freeze()
    await send(solve(4, 2, AFTER), solve(3, 3, LATER), solve(2, 2, LATEST), solve(1, 2))
    expect(await sent({ type: 'auteur', id_auteur: 4, supprime: true })).toEqual(['appliquee'])
    await importInto(server.store, [{ type: 'challenge', id_challenge: 3, supprime: true }])
    await expectSound()
    const gone = [
      { line: frozen(4, 2, AFTER), reason: 'id_auteur names 4, which auteurs does not have' },
      { line: frozen(3, 3, LATER), reason: 'id_challenge names 3, which challenges does not have' },
    ]
    expect(await freeze(LATER)).toMatchObject({ applied: 0, refused: gone })
    const counted = () =>
      server.store.read((db) => db.select<{ nb: number }>('select count(*) as nb from validations_gelees'))
    expect(Number((await counted())[0]?.nb)).toBe(4)
    expect((await stored()).frozen).toEqual([frozen(1, 2), frozen(2, 2, LATEST)])
    const { stdout, stderr } = await palmaresHere('settings', 'unset', 'gel', '--database', server.database)
    expect(stdout).toBe('gel is now none\n2 frozen validation(s) applied, 0 known already, 2 refused\n')
    expect(stderr).toBe(gone.map(({ line, reason }) => `dropped: ${JSON.stringify(line)}: ${reason}\n`).join(''))
    expect(Number((await counted())[0]?.nb)).toBe(0)
    await expectSound()
  })

  test('a frozen validation that would give too many points is reported, and the others are applied', async () => {
    await importInto(server.store, [
      { type: 'auteur', id_auteur: 4, nom: 'a4', score_base: Number.MAX_SAFE_INTEGER - 25 },
    ])
    await freeze()
    await send(solve(4, 2, AFTER), solve(4, 3, LATER), solve(1, 2, LATEST))
    expect(await unfreeze()).toMatchObject({
      ...{ applied: 2, known: 0 },
      refused: [{ line: frozen(4, 3, LATER), reason: expect.stringMatching(/^the points of auteur 4/) }],
    })
    await expectSound()
  })

  test('a dump contains frozen validations only with --with-gelees, which another store that is frozen takes', async () => {
    await freeze()
    await send(solve(4, 2, AFTER), solve(4, 3))
    const args = ['export', '--database', server.database]
    const whole = (await palmaresHere(...args, '--with-gelees')).stdout
    const open = (await palmaresHere(...args)).stdout
    const extra = [frozen(4, 2, AFTER), frozen(4, 3)].map((line) => `${JSON.stringify(line)}\n`)
    expect(whole.split(/(?<=\n)/).filter((line) => !open.includes(line))).toEqual(extra)
    expect(await palmaresHere(...args, 'validations', '--with-gelees')).toMatchObject({
      stderr: expect.stringContaining('--with-gelees only works for a whole dump in ndjson'),
    })
    await importInto(server.store, whole, { replace: true })
    expect(await exportFrom(server.store, { withGelees: true })).toEqual(
      whole.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : [])),
    )
    await importInto(server.store, open, { replace: true })
    expect((await stored()).frozen).toEqual([])
  })

  test('only operators count and list frozen validations', async () => {
    await addAccount(server.store, OPERATOR)
    const cookie = await sessionOf(server, OPERATOR)
    const ask = (path: string, as = cookie) => server.anonymous(path, { headers: { cookie: as } })
    const gelees = async (query = '') => {
      const answer = await ask(`/validations/gelees${query}`)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      return { rows: await answer.json(), total: answer.headers.get('x-total-count'), link: answer.headers.get('link') }
    }
    expect(await gelees()).toMatchObject({ rows: [], total: '0' })
    await freeze()
    await send(solve(4, 3), solve(4, 2, LATER), solve(2, 2, AFTER))
    await send({ type: 'auteur', id_auteur: 2, supprime: true })
    const rows = [
      { id_auteur: '2', nom: null, id_challenge: 2, titre: 'c2', date: AFTER },
      { id_auteur: '4', nom: 'a4', id_challenge: 2, titre: 'c2', date: LATER },
      { id_auteur: '4', nom: 'a4', id_challenge: 3, titre: 'c3', date: null },
    ]
    expect((await gelees()).rows).toEqual(rows)
    const page = await gelees('?limite=1&debut_gelees=1')
    expect(page).toMatchObject({ rows: [rows[1]], total: '3' })
    const link = (rel: string, debut: number) =>
      `<${server.url}/validations/gelees?limite=1&debut_gelees=${debut}>; rel="${rel}"`
    expect(page.link).toBe([link('first', 0), link('prev', 0), link('next', 2), link('last', 2)].join(', '))
    const state = (await (await ask('/exploitation')).json()) as { donnees: object }
    expect(state.donnees).toMatchObject({ validations_gelees: 3, validations: 2 })
    await problemOf(await ask('/validations/gelees', await sessionOf(server, ACCOUNT)), 'operator_required')
    await problemOf(await server.get('/validations/gelees'), 'session_required')
    await problemOf(await server.anonymous('/validations/gelees'), 'credential_missing')
    await problemOf(await ask('/validations/gelees?limite=0'), 'invalid_parameter')
  })

  test('the rules of the ranking say since when it is frozen, in the next response', async () => {
    const regles = async () => {
      await waitForChanges(server)
      return server.json('/classement/regles')
    }
    expect(await regles()).toEqual({ departage: 'date', gel: null })
    await freeze('2026-03-10T02:00:00.5+02:00')
    expect(await regles()).toEqual({ departage: 'date', gel: GEL })
    await unfreeze()
    expect(await regles()).toEqual({ departage: 'date', gel: null })
  })

  test('check finds frozen validations that are shown too or that no freeze explains, and --repair shows these', async () => {
    const found = async () =>
      (await checkPortal(server.store)).findings.filter(({ faults }) => faults.length > 0).map(({ faults }) => faults)
    const plant = (...rows: string[]) =>
      server.store.write({}, (db) => db.exec(`insert into validations_gelees values ${rows.join(', ')}`))
    await freeze()
    await plant('(1, 1, 5)', '(4, 2, 1773187200)')
    expect(await found()).toEqual([['author 1 and challenge 1']])
    await repairPortal(server.store)
    expect(await found()).toEqual([])
    expect(await stored()).toEqual({ shown: shownAtFirst, frozen: [frozen(4, 2, AFTER)] })
    await server.store.write({}, (db) => db.exec(`delete from reglages where nom = 'gel'`))
    await plant('(9, 2, 5)')
    expect(await found()).toEqual([['author 4 and challenge 2', 'author 9 and challenge 2']])
    await repairPortal(server.store)
    expect(await found()).toEqual([])
    expect(await stored()).toEqual({ shown: [...shownAtFirst, solve(4, 2, AFTER)], frozen: [] })
    await waitForChanges(server)
    expect(await server.json('/auteurs/4')).toMatchObject({ score: 20 })
    expect(await server.json('/classement?periode=2026-03')).toMatchObject([{ id_auteur: '4' }, {}, {}])
  })

  test('settings takes an instant, past or future, says what it means, and refuses anything else', async () => {
    const settings = (...args: string[]) => palmaresHere('settings', ...args, '--database', server.database)
    const meaning =
      'From now on, validations dated later or without a date are stored but not shown. What is shown already stays.\n'
    for (const instant of [GEL, '0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z']) {
      expect(await settings('set', 'gel', instant)).toEqual({
        status: 0,
        stdout: expect.stringContaining(`gel is now ${instant}\n${meaning}`),
        stderr: '',
      })
      expect((await settings('get', 'gel')).stdout).toBe(`${instant}\n`)
    }
    const last = '9999-12-31T23:59:59Z'
    expect((await settings('set', 'gel', last)).stdout).toBe(`gel is ${last} already\n`)
    for (const text of ['demain', '', '2026-03-10', '2026-02-30T00:00:00Z', '1773100800']) {
      expect(await settings('set', 'gel', text)).toEqual({
        status: 1,
        stdout: '',
        stderr: `error: gel takes a date and time such as 2026-01-31T12:00:00Z, not ${JSON.stringify(text)}\n`,
      })
    }
    expect((await settings('get', 'gel', '--json')).stdout).toBe(`"${last}"\n`)
    expect((await settings('unset', 'gel')).stdout).toBe(
      'gel is now none\n0 frozen validation(s) applied, 0 known already, 0 refused\n',
    )
    expect(await settings('get', 'gel')).toMatchObject({ stdout: 'none\n' })
    expect((await settings('unset', 'gel')).stdout).toBe('gel is none already\n')
  })
})
