import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { engines, importInto, makePlace, makeStore } from '../../../test/harness.js'
import { pretendLarge, walksOf } from '../../../test/plans.js'
import { shareOf } from '../../../test/share.js'
import { openStore } from '../open.js'
import { classement, classements, lists, validations } from '../orders.js'
import { bind, compiledOf, type Parameters, type Statement } from '../query.js'
import { type Db, runInOrder, type Store } from '../store.js'
import { rebuild } from './build.js'
import { FIRST, type Key } from './key.js'
import { applyMoves, forgetMoves, insertMoves, makeMoves } from './moves.js'
import { order } from './order.js'

type Entry = [cle: number, date: number, id: number]

/** Many orders over one table, by the parity of the id. */
const essais = order({
  name: 'essais',
  table: 'essai' as 'classements',
  key: { cle: 'cle', date: 'date', id: 'id' },
  by: { column: 'parite' },
  rows: (q) =>
    q
      .selectFrom('essai' as 'classements')
      .select(['cle', 'date', 'id' as 'id_auteur'])
      .$castTo<{ cle: number; date: number; id: number }>(),
  keyOf: ({ cle, date }: { cle: number; date: number }) => ({ cle, date }),
})

describe.each(engines)('on %s, a declared order', (engine) => {
  let store: Store
  let close: () => Promise<void>
  beforeAll(async () => {
    const made = await makeStore(engine)
    store = made.store
    close = made.close
    await store.write({}, (db) =>
      db.exec(
        'create table essai (cle bigint not null, date bigint not null, id bigint not null, parite bigint not null)',
      ),
    )
  })
  afterAll(() => close())

  test('pages, ranks and counts like a sorted array, whether rebuilt or updated by live changes', async () => {
    await fc.assert(
      fc.asyncProperty(anyEntries(), anyEntries(), fc.nat(200), fc.integer({ min: 1, max: 100 }), async (...given) => {
        const [built, added, debut, limite] = given
        await store.write({}, async (db) => {
          await db.exec('delete from essai')
          await db.load('essai', ['cle', 'date', 'id', 'parite'], built.map(toRow))
          await rebuild(db, essais)
          await expectSorted(db, built, debut, limite)
          const known = new Set(built.map(String))
          const fresh = added.filter((entry) => !known.has(String(entry)))
          await makeMoves(db)
          await db.exec(insertMoves(essais, -1, 'e', 'essai e where e.id < 50'))
          await db.exec('delete from essai where id < 50')
          await db.load('essai', ['cle', 'date', 'id', 'parite'], fresh.map(toRow))
          const ids = fresh.map(([cle, date, id]) => `(e.cle = ${cle} and e.date = ${date} and e.id = ${id})`)
          await db.exec(insertMoves(essais, 1, 'e', `essai e where ${['false', ...ids].join(' or ')}`))
          await applyMoves(db, [essais])
          await runInOrder(db, forgetMoves)
          const now = [...built.filter(([, , id]) => id >= 50), ...fresh]
          await expectSorted(db, now, debut, limite)
        })
      }),
      { numRuns: shareOf(40) },
    )
  })
})

const toRow = ([cle, date, id]: Entry) => [cle, date, id, id % 2]

async function expectSorted(db: Db, entries: Entry[], debut: number, limite: number): Promise<void> {
  for (const parity of [0, 1]) {
    const one = essais.of(parity)
    const sorted = entries
      .filter(([, , id]) => id % 2 === parity)
      .map(([cle, date, id]) => ({ cle, date, id }))
      .sort((a, b) => a.cle - b.cle || a.date - b.date || a.id - b.id)
    const isBefore = (a: Key, b: Key) =>
      a.cle !== b.cle ? a.cle < b.cle : a.date !== b.date ? a.date < b.date : a.id < b.id
    const before = (key: Key) => sorted.filter((entry) => isBefore(entry, key)).length
    expect(await one.count(db)).toBe(sorted.length)
    expect(await one.page(db, debut, limite)).toEqual(sorted.slice(debut, debut + limite))
    const ranked = await one.rankedPage(db, debut, limite, (row, rank) => ({ ...row, rank }))
    const expected = sorted.slice(debut, debut + limite)
    expect(ranked).toEqual(expected.map((key) => ({ ...key, rank: before({ ...key, id: 0 }) })))
    for (const key of [...expected.slice(0, 3), { cle: 0, date: 1, id: 7 }]) {
      expect(await one.rank(db, key)).toBe(before(key))
      expect(await one.rank(db, { ...key, id: 0 })).toBe(before({ ...key, id: 0 }))
      expect(await one.rank(db, { cle: key.cle, date: FIRST.date })).toBe(before({ ...key, date: FIRST.date, id: 0 }))
    }
    const [first] = sorted
    expect(await one.slice(db, one.name, FIRST, 1)).toEqual(first ? [first] : [])
  }
}

/** Ties and single entries, enough for several leaves. */
function anyEntries(): fc.Arbitrary<Entry[]> {
  const [cle, date, id] = [
    fc.integer({ min: -4, max: 4 }),
    fc.integer({ min: -1, max: 2 }),
    fc.integer({ min: 1, max: 200 }),
  ]
  const entry = fc.tuple(cle, date, id)
  return fc.uniqueArray(entry, { maxLength: 250, size: 'max', selector: String })
}

describe.each(engines)('on %s, an order of the portal seeks directly to', (engine) => {
  let place: { url: string; remove(): unknown }
  let store: Store
  beforeAll(async () => {
    place = await makePlace(engine)
    // Opened as a command opens it: SQLite runs in this thread, where its plans can be read.
    store = await openStore(place.url, { create: true })
    await importInto(store, [
      { type: 'rubrique', id_rubrique: 1, nom: 'r' },
      { type: 'challenge', id_challenge: 1, id_rubrique: 1, titre: 't', score: 1 },
      { type: 'environnement_virtuel', id_environnement_virtuel: 1, nom: 'e' },
      ...Array.from({ length: 300 }, (_, i) => ({ type: 'auteur', id_auteur: i + 1, nom: `a${i}` })),
      ...Array.from({ length: 300 }, (_, i) => ({ type: 'validation', id_auteur: i + 1, id_challenge: 1 })),
    ])
    if (engine === 'postgres') await store.write({}, pretendLarge)
  })
  afterAll(async () => {
    await store.close()
    await place.remove()
  })

  test.each([classement, classements.of(-1), validations.of(1), ...Object.values(lists)])(
    'a row and a rank: $name',
    async (one) => {
      const walks = await store.read(async (db) => {
        const spies = [vi.spyOn(db, 'all'), vi.spyOn(db, 'get')]
        const rows = await one.rankedPage(db, 0, 10, (row) => row)
        expect(rows.length).toBeGreaterThan(0)
        expect(await one.rank(db, { cle: 1, id: 5 })).toBeGreaterThanOrEqual(0)
        await one.slice(db, one.name, FIRST, 10)
        if (!one.name.includes('/')) await one.rankedAmong(db, [1, 7], (row) => row)
        const asked = spies.flatMap(
          (spy) => spy.mock.calls as unknown as [Statement<Parameters, unknown>, Parameters][],
        )
        for (const spy of spies) spy.mockRestore()
        const found: string[] = []
        for (const [query, given] of asked) {
          const compiled = compiledOf(query, db.engine)
          const values = bind(compiled, given)
          for (const walk of await walksOf(db, compiled.sql, values, TABLES)) found.push(`${walk}: ${compiled.sql}`)
        }
        return found
      })
      expect(walks).toEqual([])
    },
  )
})

const TABLES = ['auteurs', 'challenges', 'environnements_virtuels', 'validations', 'classements', 'noeuds']
