import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeStore } from '../../../test/harness.js'
import type { Db, Store } from '../store.js'

let store: Store
let close: () => Promise<void>

beforeEach(async () => {
  const made = await makeStore()
  store = made.store
  close = made.close
})

afterEach(() => close())

const limitPages = (pages: number) => store.write({}, (db) => db.exec(`pragma max_page_count = ${pages}`))
const addRubrique = (nom: string) => (db: Db) => db.exec('insert into rubriques (id_rubrique, nom) values (1, ?)', nom)
const countRubriques = () => store.read((db) => db.select('select count(*) as nb from rubriques'))

test('a write that the disk has no room for throws full, leaves nothing behind, and the store goes on', async () => {
  const before = await store.versions()
  await limitPages(1)
  const writing = store.write({ donnees: true }, async (db) => {
    await addRubrique('small')(db)
    await db.exec('update rubriques set nom = ?', 'x'.repeat(1_000_000))
  })
  await expect(writing).rejects.toMatchObject({ name: 'StoreError', fault: 'full' })
  expect([await countRubriques(), await store.versions()]).toEqual([[{ nb: 0 }], before])
  await limitPages(1_000_000)
  await store.write({ donnees: true }, addRubrique('x'.repeat(1_000_000)))
  expect(await countRubriques()).toEqual([{ nb: 1 }])
})

test('a write that goes on after SQLite has taken it back fails too, and the store goes on', async () => {
  await limitPages(1)
  const writing = store.write({ donnees: true }, async (db) => {
    await addRubrique('x'.repeat(1_000_000))(db).catch(() => undefined)
  })
  await expect(writing).rejects.toThrow()
  await store.write({}, addRubrique('small'))
  expect(await countRubriques()).toEqual([{ nb: 1 }])
})
