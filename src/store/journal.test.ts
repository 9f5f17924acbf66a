import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines, type MadeStore, makeStore } from '../../test/harness.js'
import type { JournalEntry } from './changes.js'
import { EVERYTHING, readJournal } from './journal.js'
import { writeSetting } from './settings.js'
import type { Store } from './store.js'

const solve = (id_auteur: number): JournalEntry => ({ type: 'validation', supprime: 0, id_auteur, id_challenge: 7 })
const kept = (entry: JournalEntry) => ({
  id_auteur: null,
  id_challenge: null,
  id_rubrique: null,
  supprime: 0,
  ...entry,
})

describe.each(engines)('the journal on %s', (engine) => {
  let made: MadeStore
  let store: Store
  beforeAll(async () => {
    made = await makeStore(engine)
    store = made.store
  })
  afterAll(() => made.close())

  const versionNow = async () => (await store.versions()).donnees
  const since = (cursor: number, limit = 1_000) => store.read((db) => readJournal(db, cursor, limit))
  const append = (entries: JournalEntry[]) => store.write({ donnees: entries }, async () => undefined, 'donnees')

  test('returns the changes since a version, in order, and the version is the cursor of the newest line', async () => {
    await append([...EVERYTHING])
    const version = await versionNow()
    expect(await since(version)).toEqual([])
    const moved: JournalEntry = { type: 'classement', rangs: { classement: [-50, -20, true] } }
    await append([solve(1), solve(2), moved])
    await append([solve(3)])
    expect(await since(version)).toEqual([solve(1), solve(2), moved, solve(3)].map(kept))
    expect(await since(await versionNow())).toEqual([])
    const [newest] = await store.read((db) => db.select<{ c: number }>('select max(curseur) as c from journal'))
    expect(newest?.c).toBe(await versionNow())
  })

  test('returns nothing if there are more changes than wanted, or if some of them are missing', async () => {
    const version = await versionNow()
    await append([solve(1), solve(2), solve(3)])
    expect(await since(version, 3)).toHaveLength(3)
    expect(await since(version, 2)).toBeUndefined()
    expect(await since(version - 1_000_000_000)).toBeUndefined()
    expect(await since(version + 1_000_000_000)).toBeUndefined()
  })

  test('is not written by a transaction that fails or changes nothing', async () => {
    const version = await versionNow()
    await store.write({ donnees: [] }, async () => undefined)
    const failing = store.write({ donnees: [solve(9)] }, async () => {
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect([await versionNow(), await since(version)]).toEqual([version, []])
  })

  test('keeps 100,000 lines and deletes the oldest', async () => {
    const many = Array.from({ length: 60_000 }, (_, i) => solve(i + 1))
    const version = await versionNow()
    await append(many)
    const middle = await versionNow()
    await append(many)
    const [count] = await store.read((db) => db.select<{ nb: number }>('select count(*) as nb from journal'))
    expect(Number(count?.nb)).toBe(100_000)
    expect(await since(version, 200_000)).toBeUndefined()
    expect(await since(middle, 200_000)).toHaveLength(60_000)
    await append(Array.from({ length: 100_500 }, (_, i) => solve(i + 1)))
    expect(await since(middle, 200_000)).toBeUndefined()
    const rest = await store.read((db) => db.select<{ nb: number }>('select count(*) as nb from journal'))
    expect(Number(rest[0]?.nb)).toBe(100_000)
  })

  test('deletes lines that are older than the setting journal_jours, a few at a time, and no others', async () => {
    const version = await versionNow()
    const lines = async () =>
      (await store.read((db) => db.select<{ nb: number }>('select count(*) as nb from journal'))).map(({ nb }) =>
        Number(nb),
      )[0]
    const stated = async () =>
      (await store.read((db) => db.select<{ nb: number }>('select journal_lignes as nb from etat')))[0]?.nb
    const before = Number(await lines())
    await store.write({}, async (db) => {
      await writeSetting(db, 'journal_jours', 2)
      await db.exec('update journal set date = date - 2 * 86400 - 60 where curseur <= ?', version - before + 2_000)
      await db.exec('update journal set date = date - 86400 where curseur > ?', version - before + 2_000)
    })
    for (let i = 0; i < 5; i++) await append(Array.from({ length: 256 }, (_, each) => solve(each + 1)))
    expect(await lines()).toBe(before - 2_000 + 5 * 256)
    expect(Number(await stated())).toBe(await lines())
    expect(await since(version)).toBeUndefined()
    expect(await since(version, 2_000)).toHaveLength(5 * 256)
  })
})
