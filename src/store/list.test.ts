import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines, makeStore } from '../../test/harness.js'
import { EVERYTHING } from './journal.js'
import { listIds } from './list.js'
import type { Db, Store } from './store.js'

/** More than two windows of a scan, so that each yields. */
const ROWS = 25_000

describe.each(engines)('a needle too short for the index of %s', (engine) => {
  let store: Store
  let close: () => Promise<void>
  beforeAll(async () => {
    const made = await makeStore(engine)
    store = made.store
    close = made.close
    const columns = ['id_auteur', 'nom', 'nom_plie', 'statut', 'statut_cle', 'lang', 'lang_cle']
    const rows = Array.from({ length: ROWS }, (_, i) => {
      const nom = (i + 1) % 5_000 === 0 ? `zz ${i}` : `a ${i}`
      return [i + 1, nom, nom, '', '', 'fr', 'fr']
    })
    await store.write({ donnees: EVERYTHING }, (db) => db.load('auteurs', columns, rows))
  })
  afterAll(() => close())

  const list = (db: Db, needle: string, among?: number[]) =>
    listIds(db, {
      table: 'auteurs',
      id: 'id_auteur',
      contains: { nom_plie: needle },
      equals: {},
      condition: among && sql<boolean>`t.id_auteur in (${sql.join(among)})`,
      debut: 0,
      limite: 100,
    })
  const search = (needle: string, among?: number[]) => store.read((db) => list(db, needle, among))
  /** Lends snapshots that are all open, so that what is asked of them begins at once. */
  const withReads = (count: number, work: (dbs: Db[]) => Promise<void>, open: Db[] = []): Promise<void> =>
    open.length === count ? work(open) : store.read((db) => withReads(count, work, [...open, db]))
  const found = { ids: [5_000, 10_000, 15_000, 20_000, 25_000], total: 5 }
  const tooBroad = { code: 'search_too_broad', status: 503 }

  /** A snapshot that answers after a while, or fails at an answer: a scan of it is under way meanwhile. */
  const withAnswers = (db: Db, before: (count: number) => Promise<unknown>): Db => {
    let count = 0
    const get = async (...query: [never]) => {
      await before(++count)
      return db.get(...query)
    }
    return Object.create(db, { get: { value: get } }) as Db
  }
  const slow = (db: Db) => withAnswers(db, (count) => (count === 1 ? Promise.resolve() : sleep(300)))

  test('is looked for window by window twice at once, a third is too broad, and then there is room again', async () => {
    await withReads(3, async ([first, second, third]) => {
      const two = [list(slow(first as Db), 'zz'), list(slow(second as Db), 'zz')]
      await sleep(100)
      await expect(list(third as Db, 'zz')).rejects.toMatchObject(tooBroad)
      expect(await Promise.all(two)).toMatchObject([found, found])
    })
    expect(await Promise.all([search('zz'), search('zz')])).toMatchObject([found, found])
  })

  test('leaves room where a search fails', async () => {
    const failing = (db: Db) =>
      withAnswers(db, async (count) => {
        if (count > 1) throw new Error('lost')
      })
    for (let i = 0; i < 3; i++) await expect(store.read((db) => list(failing(db), 'zz'))).rejects.toThrow('lost')
    expect(await search('zz')).toMatchObject(found)
  })

  test('among authors that are named, or within the first window, needs no scan: it is answered while two run', async () => {
    await withReads(4, async ([first, second, third, fourth]) => {
      const scans = [list(slow(first as Db), 'zz'), list(slow(second as Db), 'zz')]
      await sleep(100)
      expect(await list(third as Db, 'a', [1, 2, 5_000, 77_777])).toMatchObject({ ids: [1, 2], total: 2 })
      expect(await list(fourth as Db, 'a')).toMatchObject({ more: true })
      await Promise.all(scans)
    })
  })
})
