import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines, makeStore } from '../../../test/harness.js'
import { EVERYTHING } from '../journal.js'
import { type Db, runInOrder, type Store } from '../store.js'
import { rebuild, verifyOrders } from './build.js'
import { KEY } from './key.js'
import { applyMoves, forgetMoves, makeMoves } from './moves.js'
import { order } from './order.js'
import { countAll, seek } from './tree.js'

type Entry = [cle: number, id: number]
/** A batch of added and removed entries. */
interface Batch {
  added: Entry[]
  removed: Entry[]
}

const essai = order({
  name: 'essai',
  table: 'essai' as 'classements',
  key: { cle: 'cle', id: 'id' },
  rows: (q) => q.selectFrom('essai' as 'classements').select('cle'),
  keyOf: ({ cle }: { cle: number }) => ({ cle }),
})

let store: Store
let close: () => Promise<void>

describe.each(engines)('on %s, an incrementally updated order', (engine) => {
  beforeAll(async () => {
    const made = await makeStore(engine)
    store = made.store
    close = made.close
    await store.write({}, (db) => db.exec('create table essai (cle bigint not null, id bigint not null)'))
  })

  afterAll(() => close())

  test('counts like a rebuilt one after any batches of additions and removals, and finds every row', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyBatch(), { minLength: 1, maxLength: 8 }), async (batches) => {
        await empty()
        const model = new Map<string, Entry>()
        for (const batch of batches) {
          await apply(store, model, batch)
          await expectRight(model)
        }
      }),
      { numRuns: 25 },
    )
  })

  test('splits nodes when it grows at its end, level by level, and is empty after all entries are removed', async () => {
    await empty()
    const model = new Map<string, Entry>()
    for (let from = 0; from < 6_000; from += 1_500) {
      await apply(store, model, { added: range(from, from + 1_500), removed: [] })
      await expectRight(model)
    }
    const levels = await store.read((db) =>
      db.select<{ niveau: number; plus: number }>(
        "select niveau, count(*) as plus from noeuds where arbre = 'essai' group by niveau order by niveau",
      ),
    )
    expect(levels[0]!.plus).toBeGreaterThan(6_000 / 64)
    expect(levels[1]!.plus).toBeGreaterThan(1)
    await apply(store, model, { added: [], removed: range(0, 6_000) })
    await expectRight(model)
    expect(await store.read((db) => db.select("select * from noeuds where arbre = 'essai' and nb <> 0"))).toEqual([])
    expect(await store.read((db) => db.select("select niveau from noeuds where arbre = 'essai'"))).toHaveLength(4)
  })

  test('counts the greatest possible key', async () => {
    await empty()
    const model = new Map<string, Entry>()
    const greatest: Entry = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
    await apply(store, model, { added: [...range(0, 70), greatest], removed: [] })
    await expectRight(model)
  })

  test('is unchanged by a batch that removes what it adds', async () => {
    await empty()
    const model = new Map<string, Entry>()
    await apply(store, model, { added: range(0, 100), removed: [] })
    const before = await store.read((db) => db.select('select * from noeuds order by arbre, niveau, cle, date, id'))
    await store.write({}, async (db) => {
      await makeMoves(db)
      await db.load(
        'moved_entries',
        ['arbre', 'cle', 'id', 'nb'],
        [
          ['essai', 5, 5, 1],
          ['essai', 5, 5, -1],
        ],
      )
      await applyMoves(db, [essai])
      await runInOrder(db, forgetMoves)
    })
    expect(await store.read((db) => db.select('select * from noeuds order by arbre, niveau, cle, date, id'))).toEqual(
      before,
    )
  })
})

async function empty(): Promise<void> {
  await store.write({ donnees: EVERYTHING }, async (db) => {
    await db.exec('delete from essai')
    await rebuild(db, essai)
  })
}

async function apply(some: Store, model: Map<string, Entry>, { added, removed }: Batch): Promise<void> {
  const gone = unique(removed).filter((entry) => model.has(String(entry)))
  const come = unique(added).filter((entry) => !model.has(String(entry)))
  await some.write({ donnees: EVERYTHING }, async (db) => {
    await makeMoves(db)
    for (const [cle, id] of gone) await db.exec('delete from essai where cle = ? and id = ?', cle, id)
    await db.load('essai', ['cle', 'id'], come)
    const move =
      (nb: 1 | -1) =>
      ([cle, id]: Entry) => ['essai', cle, 0, id, nb]
    await db.load('moved_entries', ['arbre', ...KEY, 'nb'], [...gone.map(move(-1)), ...come.map(move(1))])
    await applyMoves(db, [essai])
    await runInOrder(db, forgetMoves)
  })
  for (const entry of gone) model.delete(String(entry))
  for (const entry of come) model.set(String(entry), entry)
}

async function expectRight(model: Map<string, Entry>): Promise<void> {
  const sorted = [...model.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1])
  await store.read(async (db) => {
    expect(await verifyOrders(db, essai)).toEqual([])
    expect(await countAll(db, 'essai')).toBe(sorted.length)
    const step = Math.max(1, Math.floor(sorted.length / 20))
    for (let row = 0; row < sorted.length; row += step) await expectRow(db, sorted, row)
    expect(await seek(db, 'essai', sorted.length)).toBeUndefined()
  })
}

async function expectRow(db: Db, sorted: Entry[], row: number): Promise<void> {
  const found = await seek(db, 'essai', row)
  const from = sorted.findIndex(([cle, id]) => cle > found!.cle || (cle === found!.cle && id >= found!.id))
  expect(from + found!.skip).toBe(row)
  expect(found!.skip).toBeLessThan(64)
}

function range(from: number, to: number): Entry[] {
  return Array.from({ length: to - from }, (_, i): Entry => [Math.floor((from + i) / 3), from + i + 1])
}

function unique(entries: Entry[]): Entry[] {
  return [...new Map(entries.map((entry) => [String(entry), entry])).values()]
}

/** Many at once around one key, so that nodes are split, or a few anywhere. */
function anyBatch(): fc.Arbitrary<Batch> {
  const entry = fc.tuple(fc.integer({ min: -5, max: 5 }), fc.integer({ min: 1, max: 60 }))
  const crowd = fc
    .tuple(fc.integer({ min: -5, max: 5 }), fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 200 }))
    .map(([cle, first, size]) => Array.from({ length: size }, (_, i): Entry => [cle, first + i]))
  const some = fc.oneof(fc.array(entry as fc.Arbitrary<Entry>, { maxLength: 30 }), crowd)
  return fc.record({ added: some, removed: some })
}
