import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeStore } from '../../../test/harness.js'
import { EVERYTHING } from '../journal.js'
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
const addRubrique = (id: number, nom: string) => (db: Db) =>
  db.exec('insert into rubriques (id_rubrique, nom) values (?, ?)', id, nom)
const countRubriques = () => store.read((db) => db.select('select count(*) as nb from rubriques'))

test('a write for which the disk has no room throws full and changes nothing, and the store still works', async () => {
  const before = await store.versions()
  await limitPages(1)
  const writing = store.write({ donnees: EVERYTHING }, async (db) => {
    await addRubrique(1, 'small')(db)
    await addRubrique(2, 'x'.repeat(1_000_000))(db)
  })
  await expect(writing).rejects.toMatchObject({ name: 'StoreError', fault: 'full' })
  expect([await countRubriques(), await store.versions()]).toEqual([[{ nb: 0 }], before])
  await limitPages(1_000_000)
  await store.write({ donnees: EVERYTHING }, addRubrique(2, 'x'.repeat(1_000_000)))
  expect(await countRubriques()).toEqual([{ nb: 1 }])
})
