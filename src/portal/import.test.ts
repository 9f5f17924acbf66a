import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type DumpLine, engines, exportFrom, importInto, makeStore } from '../../test/harness.js'
import { findRanked } from '../classement/rank.js'
import { classement } from '../store/orders.js'
import { readSetting } from '../store/settings.js'
import type { Store } from '../store/store.js'
import { ImportError } from './import.js'

let store: Store
let close: () => Promise<void>

describe.each(engines)('an import on %s', (engine) => {
  beforeEach(async () => {
    const made = await makeStore(engine)
    store = made.store
    close = made.close
  })

  afterEach(() => close())

  describe('lines of a dump', () => {
    test('may come in any order, even references before what they name', async () => {
      await importInto(store, [...portal].reverse())
      const reversed = await exportFrom(store)
      const other = await makeStore(engine)
      await importInto(other.store, portal)
      expect(reversed).toEqual(await exportFrom(other.store))
      await other.close()
    })

    test('change nothing when they are imported again, not even the version of the data', async () => {
      await importInto(store, [...portal, compte], { withAccounts: true })
      const before = await store.versions()
      for (const replace of [false, true]) {
        const report = await importInto(store, [...portal, compte], { withAccounts: true, replace })
        expect(report.tallies.map(({ added, changed, removed, listed }) => added + changed + removed + listed)).toEqual(
          report.tallies.map(() => 0),
        )
      }
      expect(await store.versions()).toEqual(before)
    })

    test('replace the whole record with their id: a field that a line omits becomes unknown', async () => {
      await importInto(store, portal)
      await importInto(store, [{ ...challenge(1, 10), soustitre: 's', lang: 'fr', auteurs: [1, 2] }])
      await importInto(store, [{ type: 'challenge', id_challenge: 1, id_rubrique: 2, titre: 'new', score: 1 }])
      expect(await lineOf('challenge', 'id_challenge', 1)).toEqual({
        ...{ type: 'challenge', id_challenge: 1, id_rubrique: 2, titre: 'new', score: 1, auteurs: [] },
      })
    })

    test('may be blank, end with CR LF, start with a byte-order mark and lack the last newline', async () => {
      const text = `\ufeff${JSON.stringify(auteur(1))}\r\n\r\n   \n${JSON.stringify(auteur(2))}`
      const report = await importInto(store, text)
      expect(report.lines).toBe(4)
      expect(await exportFrom(store)).toEqual([
        { ...auteur(1), score: 0 },
        { ...auteur(2), score: 0 },
      ])
    })

    test('may have unknown fields, which are ignored and reported', async () => {
      const report = await importInto(store, [{ ...auteur(1), age: 3 }, { ...auteur(2), age: 4 }, rubrique(1)])
      expect([...report.unknownFields]).toEqual([['auteur.age', 2]])
    })

    test('are counted by their effect on each kind of record', async () => {
      await importInto(store, portal)
      const { tallies } = await importInto(store, [
        auteur(3),
        { ...auteur(1), nom: 'other', score: 100 },
        auteur(2),
        { ...challenge(1, 10), auteurs: [2] },
        { ...validation(1, 1), supprime: true },
      ])
      const seen = Object.fromEntries(tallies.map((t) => [t.type, [t.added, t.changed, t.removed, t.listed]]))
      expect(seen).toMatchObject({
        rubrique: [0, 0, 0, 0],
        auteur: [1, 1, 0, 0],
        challenge: [0, 0, 0, 2],
        validation: [0, 0, 1, 0],
      })
    })

    test('count once if equal, in whatever notation; two that differ are a fault that names both lines', async () => {
      const once = { ...validation(1, 1), date: '2025-01-01T12:00:00Z' }
      await importInto(store, [
        ...portal.slice(0, 6),
        once,
        environnement,
        { ...once, date: '2025-01-01T13:00:00.9+01:00' },
        once,
      ])
      const before = await exportFrom(store)
      expect(before.filter(({ type }) => type === 'validation')).toEqual([once])
      for (const [first, second, key] of [
        [auteur(1), { ...auteur(1), lang: 'fr' }, 'id_auteur'],
        [{ ...auteur(1), score: 1 }, { ...auteur(1), score: 2 }, 'id_auteur'],
        [auteur(1), { ...auteur(1), score: 0 }, 'id_auteur'],
        [challenge(1, 1), { ...challenge(1, 1), auteurs: [1] }, 'id_challenge'],
        [validation(1, 1), once, 'id_auteur and id_challenge'],
        [environnement, { ...environnement, time_to_root: 3 }, 'id_environnement_virtuel'],
        [rubrique(1), { ...rubrique(1), supprime: true }, 'id_rubrique'],
      ] as [DumpLine, DumpLine, string][]) {
        const faults = await faultsOf([rubrique(9), first, rubrique(8), second])
        expect(faults).toEqual([`line 4: differs from line 2, which has the same ${key}`])
      }
      expect(await exportFrom(store)).toEqual(before)
    })
  })

  describe('an import with a fault', () => {
    test.each<[string, DumpLine[], RegExp]>([
      ['an invalid line at the end', [auteur(9), { type: 'auteur', id_auteur: 0, nom: 'x' }], /^line 2: id_auteur/],
      ['a missing rubrique', [challenge(9, 1, 77)], /^line 1: id_rubrique names 77/],
      ['a missing author of a challenge', [{ ...challenge(1, 1), auteurs: [1, 77] }], /^line 1: auteurs names 77/],
      ['a validation by a missing author', [auteur(9), validation(77, 1)], /^line 2: id_auteur names 77/],
      ['a validation of a missing challenge', [auteur(9), validation(1, 77)], /^line 2: id_challenge names 77/],
      [
        'the removal of a rubrique in use',
        [{ ...rubrique(1), supprime: true }],
        /^line 1: rubrique 1 is still used by challenge 1/,
      ],
      [
        'the removal of an author whom a line names',
        [
          { ...auteur(1), supprime: true },
          { ...challenge(2, 1), auteurs: [1] },
        ],
        /^line 2: auteurs names 1/,
      ],
      [
        'the removal of a challenge whose validation a line names',
        [validation(1, 1), { ...challenge(1, 1), supprime: true }],
        /^line 1: id_challenge names 1/,
      ],
      ['an account without --with-accounts', [compte], /^line 1: .*--with-accounts/],
    ])('leaves the export unchanged, byte for byte: %s', async (_, lines, fault) => {
      await importInto(store, [...portal, compte], { withAccounts: true })
      const before = [JSON.stringify(await exportFrom(store, { withAccounts: true })), await store.versions()]
      const faults = await faultsOf(lines)
      expect(faults).toHaveLength(1)
      expect(faults[0]).toMatch(fault)
      expect([JSON.stringify(await exportFrom(store, { withAccounts: true })), await store.versions()]).toEqual(before)
    })

    test('removes nothing with --replace either', async () => {
      await importInto(store, portal)
      const before = await exportFrom(store)
      expect(await faultsOf([auteur(1), challenge(1, 1)], { replace: true })).toEqual([
        'line 2: id_rubrique names 1, which rubriques does not have',
      ])
      expect(await exportFrom(store)).toEqual(before)
    })

    test('leaves the store usable for the next import', async () => {
      expect(await faultsOf([validation(1, 1)])).toHaveLength(2)
      await importInto(store, portal)
      expect(await exportFrom(store)).toHaveLength(portal.length)
    })
  })

  describe('supprime', () => {
    test('removes an author with validations, account, keys and authorships, and nothing else', async () => {
      await importInto(store, [...portal, compte], { withAccounts: true })
      await importInto(store, [{ type: 'auteur', id_auteur: 1, supprime: true }])
      const left = await exportFrom(store, { withAccounts: true })
      const [c1, c2] = [
        { ...challenge(1, 10), auteurs: [] },
        { ...challenge(2, 20), auteurs: [2] },
      ]
      const a2 = { ...auteur(2), score: 20 }
      expect(left).toEqual([rubrique(1), rubrique(2), a2, c1, c2, validation(2, 2), environnement])
      expect(await counts()).toEqual({ sessions: 0, cles_api: 0 })
    })

    test('removes a challenge with its validations and authorships, and its points from the scores of its solvers', async () => {
      await importInto(store, portal)
      await importInto(store, [{ type: 'challenge', id_challenge: 1, supprime: true }])
      expect((await exportFrom(store)).map(({ type }) => type)).toEqual([
        ...['rubrique', 'rubrique', 'auteur', 'auteur', 'challenge', 'validation', 'environnement_virtuel'],
      ])
      expect(await scores()).toEqual([40, 20])
    })

    test('removes one validation, an environment, an unused rubrique and an account, each on its own', async () => {
      await importInto(store, [...portal, compte], { withAccounts: true })
      const keys = [
        { type: 'validation', id_auteur: 1, id_challenge: 1 },
        { type: 'environnement_virtuel', id_environnement_virtuel: 1 },
        { type: 'rubrique', id_rubrique: 2 },
        { type: 'compte', login: 'alice' },
      ]
      const before = await exportFrom(store, { withAccounts: true })
      await importInto(
        store,
        keys.map((key) => ({ ...key, supprime: true })),
        { withAccounts: true },
      )
      const after = await exportFrom(store, { withAccounts: true })
      expect(before.length - after.length).toBe(4)
      expect(after).toEqual([
        rubrique(1),
        { ...auteur(1), score: 40 },
        { ...auteur(2), score: 20 },
        ...before.slice(4, 6),
        validation(2, 2),
      ])
    })

    test('a rubrique may be removed if the same dump moves its last challenge', async () => {
      await importInto(store, portal)
      await importInto(store, [{ ...rubrique(1), supprime: true }, challenge(1, 10, 2), challenge(2, 20, 2)])
      expect((await exportFrom(store))[0]).toEqual(rubrique(2))
    })

    test('the removal of a missing record changes nothing, and supprime: false means the same as no supprime', async () => {
      await importInto(store, portal)
      const before = await store.versions()
      await importInto(store, [
        { ...auteur(77), supprime: true },
        { ...validation(77, 77), supprime: true },
      ])
      await importInto(store, [{ ...rubrique(1), supprime: false }])
      expect(await store.versions()).toEqual(before)
    })
  })

  describe('--replace', () => {
    test('removes records that the dump does not name, and keeps accounts whose author stays', async () => {
      const bob = { ...compte, login: 'bob', id_auteur: 2, cles: [] }
      await importInto(store, [...portal, compte, bob], { withAccounts: true })
      await importInto(store, [auteur(1)], { replace: true })
      expect(await exportFrom(store, { withAccounts: true })).toEqual([{ ...auteur(1), score: 0 }, compte])
    })

    test('removes accounts that the dump does not name only with --with-accounts', async () => {
      await importInto(store, [...portal, compte], { withAccounts: true })
      await importInto(store, portal, { replace: true, withAccounts: true })
      expect((await exportFrom(store, { withAccounts: true })).filter(({ type }) => type === 'compte')).toEqual([])
      expect(await counts()).toEqual({ sessions: 0, cles_api: 0 })
    })

    test('an empty dump empties the portal', async () => {
      await importInto(store, portal)
      await importInto(store, '', { replace: true })
      expect(await exportFrom(store)).toEqual([])
    })

    test('treats a line with supprime as if it were absent', async () => {
      await importInto(store, portal)
      await importInto(store, [rubrique(1), { ...rubrique(2), supprime: true }], { replace: true })
      expect(await exportFrom(store)).toEqual([rubrique(1)])
    })
  })

  describe('the score of an author', () => {
    test('is the one of its line at the end of the import, whatever solves the dump has', async () => {
      await importInto(store, [validation(1, 1), challenge(1, 10), rubrique(1), { ...auteur(1), score: 25 }])
      expect(await scores()).toEqual([25])
      await importInto(store, [{ ...auteur(1), score: 3 }])
      expect(await scores()).toEqual([3])
    })

    test('is the sum of the solves if the line has none, even after a line that had one', async () => {
      await importInto(store, [rubrique(1), challenge(1, 10), { ...auteur(1), score: 99 }, validation(1, 1)])
      await importInto(store, [auteur(1)])
      expect(await scores()).toEqual([10])
    })

    test('grows with a later validation, follows the score of a challenge, and shrinks when either is removed', async () => {
      await importInto(store, [rubrique(1), challenge(1, 10), challenge(2, 5), { ...auteur(1), score: 100 }])
      await importInto(store, [validation(1, 1)])
      expect(await scores()).toEqual([110])
      await importInto(store, [challenge(1, 40)])
      expect(await scores()).toEqual([140])
      await importInto(store, [validation(1, 2), { ...challenge(1, 40), supprime: true }])
      expect(await scores()).toEqual([105])
      await importInto(store, [{ ...validation(1, 2), supprime: true }])
      expect(await scores()).toEqual([100])
    })

    test('may be less than the solves, is never shown below 0, and remembers a negative sum', async () => {
      await importInto(store, [rubrique(1), challenge(1, 10), { ...auteur(1), score: 4 }, validation(1, 1)])
      await importInto(store, [{ ...validation(1, 1), supprime: true }])
      expect(await scores()).toEqual([0])
      expect(await lineOf('auteur', 'id_auteur', 1)).toMatchObject({ score: 0, score_base: -6 })
      await importInto(store, [validation(1, 1)])
      expect(await scores()).toEqual([4])
      expect(await lineOf('auteur', 'id_auteur', 1)).not.toHaveProperty('score_base')
    })

    test('shown as 0 is exported with its negative sum, and another store continues from it', async () => {
      await importInto(store, [rubrique(1), challenge(1, 10), { ...auteur(1), score: 0, score_base: -6 }])
      const other = await makeStore(engine)
      await importInto(other.store, await exportFrom(store))
      await importInto(other.store, [validation(1, 1)])
      expect(await scores(other.store)).toEqual([4])
      await other.close()
    })

    test('a score past the largest exact number of JSON is refused', async () => {
      const many = Array.from({ length: 3 }, (_, i) => challenge(i + 1, 1_000_000_000_000))
      const solves = many.map(({ id_challenge }) => validation(1, id_challenge as number))
      const base = { ...auteur(1), score_base: Number.MAX_SAFE_INTEGER }
      expect(await faultsOf([rubrique(1), ...many, ...solves, base])).toEqual([
        'the points of auteur 1, with the base or without, would pass 9007199254740991',
      ])
      expect(await exportFrom(store)).toEqual([])
    })

    test('may be the largest exact number of JSON, and one point more is refused', async () => {
      const max = Number.MAX_SAFE_INTEGER
      const lines = [rubrique(1), challenge(1, 10), validation(1, 1)]
      for (const fields of [{ score: max }, { score_base: max - 10 }]) {
        await importInto(store, [...lines, { ...auteur(1), ...fields }], { replace: true })
        expect(await lineOf('auteur', 'id_auteur', 1)).toEqual({ ...auteur(1), score: max })
      }
      for (const more of [[challenge(1, 11)], [challenge(2, 1), validation(1, 2)]]) {
        expect(await faultsOf(more)).toHaveLength(1)
      }
      expect(await scores()).toEqual([max])
    })

    test('is refused if the solves alone pass that number, by however much, as no base could be exact', async () => {
      const many = Array.from({ length: 9_008 }, (_, i) => challenge(i + 1, 1_000_000_000_000))
      const solves = many.map(({ id_challenge }) => validation(1, id_challenge as number))
      const line = { ...auteur(1), score: 0, score_base: -Number.MAX_SAFE_INTEGER }
      await importInto(store, [rubrique(1), ...many, ...solves.slice(1), line])
      expect(await lineOf('auteur', 'id_auteur', 1)).toMatchObject({ score: 0, score_base: -Number.MAX_SAFE_INTEGER })
      expect(await faultsOf(solves)).toHaveLength(1)
      await store.write({}, (db) => db.exec('update challenges set score = 9000000000000000000'))
      for (const fields of [{}, { score: 7 }, { score: Number.MAX_SAFE_INTEGER }, line]) {
        expect(await faultsOf([...solves, { ...auteur(1), ...fields }])).toEqual([
          'the points of auteur 1, with the base or without, would pass 9007199254740991',
        ])
      }
    })

    test('has no place while the statut is hidden, in any letter case, and has one again afterwards', async () => {
      const rows = () =>
        store.read((db) => db.select<{ cle: number | null }>('select cle_classement as cle from auteurs'))
      await importInto(store, [{ ...auteur(1), score: 7, statut: '5Poubelle' }])
      expect(await rows()).toEqual([{ cle: null }])
      expect(await scores()).toEqual([7])
      await importInto(store, [{ ...auteur(1), score: 7, statut: '6forum' }])
      expect(await rows()).toEqual([{ cle: -7 }])
    })
  })

  describe('departage', () => {
    const tied = [auteur(1), auteur(2), rubrique(1), challenge(1, 10)]
    const solves = [validation(1, 1, '2026-03-02T00:00:00Z'), validation(2, 1, '2026-03-01T00:00:00Z')]
    const places = async () =>
      (await store.read((db) => findRanked(db, classement))).rows.map(({ id_auteur, place }) => [id_auteur, place])
    const setting = () => store.read((db) => readSetting(db, 'departage'))

    test('is set together with the records, and stays until another import names it', async () => {
      const report = await importInto(store, [...tied, ...solves], { departage: 'date' })
      expect([report.isDepartageChanged, await setting(), await places()]).toEqual([
        true,
        'date',
        [
          [2, 1],
          [1, 2],
        ],
      ])
      await importInto(store, [auteur(3)])
      expect([await setting(), await places()]).toEqual([
        'date',
        [
          [2, 1],
          [1, 2],
          [3, 3],
        ],
      ])
      await importInto(store, tied, { departage: 'aucun' })
      expect([await setting(), await places()]).toEqual([
        'aucun',
        [
          [1, 1],
          [2, 1],
          [3, 3],
        ],
      ])
    })

    test('alone changes the ranking and the version of the data; with the same value, nothing', async () => {
      await importInto(store, [...tied, ...solves])
      const before = await store.versions()
      expect((await importInto(store, tied, { departage: 'aucun' })).isDepartageChanged).toBe(false)
      expect(await store.versions()).toEqual(before)
      expect((await importInto(store, tied, { departage: 'date' })).isDepartageChanged).toBe(true)
      expect((await store.versions()).donnees).toBeGreaterThan(before.donnees)
      expect(await places()).toEqual([
        [2, 1],
        [1, 2],
      ])
    })

    test('stays as it was if the import is refused', async () => {
      await importInto(store, [...tied, ...solves])
      const before = await store.versions()
      const wrong = importInto(store, [...tied, validation(9, 9)], { departage: 'date' })
      await expect(wrong).rejects.toThrow(ImportError)
      expect([await setting(), await store.versions()]).toEqual(['aucun', before])
    })
  })

  describe('dates', () => {
    test.each([
      ['2025-03-01T01:30:00+02:00', '2025-02-28T23:30:00Z'],
      ['2025-02-28T23:59:59.999999999Z', '2025-02-28T23:59:59Z'],
      ['2024-02-28T20:00:00.5-05:30', '2024-02-29T01:30:00Z'],
      ['1969-12-31T23:59:59.9Z', '1969-12-31T23:59:59Z'],
      ['2025-01-01t00:00:00z', '2025-01-01T00:00:00Z'],
    ])('%s is stored as %s', async (given, kept) => {
      await importInto(store, [
        ...portal,
        { ...challenge(3, 1), date_publication: given },
        { ...validation(1, 3), date: given },
      ])
      expect(await lineOf('challenge', 'id_challenge', 3)).toMatchObject({ date_publication: kept })
      expect(
        (await exportFrom(store)).find((line) => line.type === 'validation' && line.id_challenge === 3),
      ).toMatchObject({ date: kept })
    })

    test('absent and null dates are unknown and left out of the export', async () => {
      await importInto(store, [
        ...portal,
        { ...challenge(3, 1), date_publication: null },
        { ...validation(1, 3), date: null },
      ])
      expect(await lineOf('challenge', 'id_challenge', 3)).not.toHaveProperty('date_publication')
      expect((await exportFrom(store)).filter(({ date }) => date !== undefined)).toEqual([])
    })
  })

  describe('accounts', () => {
    test('accounts that share a key, or list one twice, are refused', async () => {
      const bob = { ...compte, login: 'bob' }
      const twice = { ...compte, cles: [cle, { ...cle, nom: 'other' }] }
      const options = { withAccounts: true }
      expect(await faultsOf([...portal, compte, bob], options)).toEqual([
        `line ${portal.length + 2}: cles has an empreinte twice, first in line ${portal.length + 1}`,
      ])
      expect(await faultsOf([...portal, twice], options)).toEqual([
        `line ${portal.length + 1}: cles has an empreinte twice`,
      ])
      await importInto(store, [...portal, compte, compte], options)
      expect(await counts()).toEqual({ sessions: 0, cles_api: 1 })
    })

    test('keep the ids of their keys; a key whose id is already used gets a new one', async () => {
      await importInto(store, [...portal, compte], { withAccounts: true })
      const other = { ...cle, empreinte: 'b'.repeat(64) }
      const bob = { ...compte, login: 'bob', cles: [other] }
      await importInto(store, [bob], { withAccounts: true })
      const cles = (await exportFrom(store, { withAccounts: true })).flatMap((line) => (line.cles as DumpLine[]) ?? [])
      expect(cles).toEqual([cle, { ...other, id: expect.any(Number) }])
      expect(cles[1]!.id).toBeGreaterThan(7)
      const before = await store.versions()
      await importInto(store, [bob], { withAccounts: true })
      expect(await store.versions()).toEqual(before)
    })

    test('listed twice keep one copy of each key, even if its id is used or missing', async () => {
      await importInto(store, [...portal, compte], { withAccounts: true })
      const keys = [
        { ...cle, empreinte: 'b'.repeat(64) },
        { ...cle, id: undefined, empreinte: 'c'.repeat(64) },
      ]
      const bob = { ...compte, login: 'bob', cles: keys }
      await importInto(store, [bob, bob, bob], { withAccounts: true })
      const exported = await exportFrom(store, { withAccounts: true })
      const cles = exported.find(({ login }) => login === 'bob')?.cles as DumpLine[]
      expect(cles.map(({ empreinte }) => empreinte)).toEqual(keys.map(({ empreinte }) => empreinte))
      expect(await counts()).toEqual({ sessions: 0, cles_api: 3 })
    })

    test('lose their sessions with a new password, and keep them with the same one', async () => {
      await importInto(store, [...portal, compte], { withAccounts: true })
      await store.write({}, (db) =>
        db.exec("insert into sessions select 'x', id_compte, 1, 1, null, null from comptes where login = 'alice'"),
      )
      await importInto(store, [compte], { withAccounts: true })
      expect(await counts()).toEqual({ sessions: 1, cles_api: 1 })
      await importInto(store, [{ ...compte, mot_de_passe: HASH.replace('YWx0', 'YWx1') }], { withAccounts: true })
      expect(await counts()).toEqual({ sessions: 0, cles_api: 1 })
    })

    test('move the version of the accounts, and an import of challenges only does not', async () => {
      await importInto(store, portal)
      const before = await store.versions()
      await importInto(store, [challenge(1, 77)])
      expect((await store.versions()).comptes).toBe(before.comptes)
      await importInto(store, [compte], { withAccounts: true })
      expect((await store.versions()).comptes).toBeGreaterThan(before.comptes)
    })
  })
})

const HASH = '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$Y2hlY2tjaGVja2NoZWNrY2hlY2tjaGVja2NoZWNrYWx0'

const cle = {
  ...{ id: 7, nom: 'bot', prefixe: 'palm_abcdef', empreinte: 'a'.repeat(64), portee: ['lecture'] },
  ...{ creation: '2025-01-01T00:00:00Z', expiration: '2035-01-01T00:00:00Z' },
}

const compte: DumpLine = {
  ...{ type: 'compte', login: 'alice', id_auteur: 1, mot_de_passe: HASH, operateur: false, desactive: false },
  ...{ creation: '2025-01-01T00:00:00Z', cles: [cle] },
}

const environnement = { type: 'environnement_virtuel', id_environnement_virtuel: 1, nom: 'vm' }

const portal: DumpLine[] = [
  ...[rubrique(1), rubrique(2), { ...auteur(1), score: 50 }, auteur(2)],
  ...[
    { ...challenge(1, 10), auteurs: [1] },
    { ...challenge(2, 20), auteurs: [1, 2] },
  ],
  ...[validation(1, 1), validation(2, 2), environnement],
]

function rubrique(id: number): DumpLine {
  return { type: 'rubrique', id_rubrique: id, nom: `r${id}` }
}

function auteur(id: number): DumpLine {
  return { type: 'auteur', id_auteur: id, nom: `a${id}` }
}

function challenge(id: number, score: number, idRubrique = 1): DumpLine {
  return { type: 'challenge', id_challenge: id, id_rubrique: idRubrique, titre: `c${id}`, score, auteurs: [] }
}

function validation(idAuteur: number, idChallenge: number, date?: string): DumpLine {
  return { type: 'validation', id_auteur: idAuteur, id_challenge: idChallenge, ...(date && { date }) }
}

async function lineOf(type: string, key: string, id: number): Promise<DumpLine | undefined> {
  return (await exportFrom(store)).find((line) => line.type === type && line[key] === id)
}

async function scores(of = store): Promise<number[]> {
  const rows = await of.read((db) => db.select<{ score: number }>('select score from auteurs order by id_auteur'))
  return rows.map(({ score }) => score)
}

async function counts(): Promise<Record<string, number>> {
  const [row] = await store.read((db) =>
    db.select<Record<string, number>>(
      'select (select count(*) from sessions where revocation is null) as sessions, (select count(*) from cles_api) as cles_api',
    ),
  )
  return row!
}

async function faultsOf(lines: DumpLine[], options: { replace?: boolean; withAccounts?: boolean } = {}) {
  const error = await importInto(store, lines, options).catch((thrown: unknown) => thrown)
  if (!(error instanceof ImportError)) throw error
  expect(error.faults.count).toBe(error.faults.shown.length)
  return error.faults.shown
}
