import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines, makeStore } from '../../../test/harness.js'
import { shareOf } from '../../../test/share.js'
import { EVERYTHING } from '../journal.js'
import type { Db, Store } from '../store.js'
import { rebuild, verifyOrders } from './build.js'
import { countAll, leafOf, MAX_MEMBERS, seek } from './tree.js'

type Entry = [cle: number, id: number]

let store: Store
let close: () => Promise<void>

describe.each(engines)('on %s,', (engine) => {
  beforeAll(async () => {
    const made = await makeStore(engine)
    store = made.store
    close = made.close
    await store.write({}, (db) => db.exec('create table essai (cle bigint not null, id bigint not null)'))
  })

  afterAll(() => close())

  describe('a counted order built from entries', () => {
    test('finds every row and counts before every key like a sorted array, whatever the ties', async () => {
      await fc.assert(
        fc.asyncProperty(anyEntries(), fc.array(anyEntry(), { maxLength: 5 }), async (entries, strangers) => {
          await withOrder(entries, async (db, sorted) => {
            expect(await countAll(db, 'essai')).toBe(sorted.length)
            for (let row = 0; row < sorted.length; row++) await expectRow(db, sorted, row)
            await expectNoRow(db, sorted.length)
            for (const key of [...sorted, ...strangers]) await expectLeaf(db, sorted, key)
            expect(await verifyOrders(db, ESSAI)).toEqual([])
          })
        }),
        { numRuns: shareOf(60) },
      )
    })

    test.each([0, 1, 2, 31, 32, 33, 63, 64, 65, 1_023, 1_024, 1_025, 32_767, 32_768, 32_769])(
      'is correct at its edges with %i entries',
      async (size) => {
        const score = (i: number) => -Math.floor(i / 100)
        await withOrder(
          Array.from({ length: size }, (_, i): Entry => [score(i), i + 1]),
          async (db, sorted) => {
            expect(await countAll(db, 'essai')).toBe(size)
            const rows = [0, 1, 31, 32, 33, 1_023, 1_024, 1_025, 32_767, 32_768, size >> 1, size - 1]
            for (const row of rows.filter((row) => row >= 0 && row < size)) {
              await expectRow(db, sorted, row)
              await expectLeaf(db, sorted, sorted[row]!)
            }
            for (const row of [size, size + 1, Number.MAX_SAFE_INTEGER]) await expectNoRow(db, row)
            const { MIN_SAFE_INTEGER, MAX_SAFE_INTEGER } = Number
            for (const key of [
              [MIN_SAFE_INTEGER, 1],
              [0, 0],
              [1, 0],
              [MAX_SAFE_INTEGER, 1],
            ] as Entry[]) {
              await expectLeaf(db, sorted, key)
            }
            expect(await verifyOrders(db, ESSAI)).toEqual([])
          },
        )
      },
    )

    test('is read consistently in each snapshot, whatever earlier snapshots have read', async () => {
      const build = (size: number) =>
        store.write({ donnees: EVERYTHING }, async (db) => {
          await db.exec('delete from essai')
          const entries = Array.from({ length: size }, (_, i): Entry => [i, i + 1])
          await db.load('essai', ['cle', 'id'], entries)
          await rebuild(db, ESSAI)
        })
      const countOf = (db: Db) => countAll(db, 'essai')
      await build(40)
      await store.read(async (before) => {
        expect(await countOf(before)).toBe(40)
        await build(2_000)
        expect(await store.read(countOf)).toBe(2_000)
        expect(await countOf(before)).toBe(40)
        expect(await seek(before, 'essai', 100)).toBeUndefined()
      })
      expect(await store.read((db) => seek(db, 'essai', 1_999))).toMatchObject({ skip: 15 })
      const inside = store.write({ donnees: EVERYTHING }, async (db) => {
        await rebuild(db, NONE)
        expect(await countOf(db)).toBe(0)
        throw new Error('taken back')
      })
      await expect(inside).rejects.toThrow('taken back')
      expect(await store.read(countOf)).toBe(2_000)
    })

    test('replaces the earlier build, and leaves orders of other names unchanged', async () => {
      await withOrder([[1, 1]], async (db) => {
        await rebuild(db, { pattern: 'autre', entries: "select 'autre' as arbre, cle, 0 as date, id from essai" })
        await rebuild(db, NONE)
        expect([await countAll(db, 'essai'), await countAll(db, 'autre')]).toEqual([0, 1])
      })
    })

    test('may be one of many that are built and verified together', async () => {
      const many = {
        pattern: 'essai/%',
        entries: "select 'essai/' || (id % 7) as arbre, cle, 0 as date, id from essai",
      }
      const entries = Array.from({ length: 500 }, (_, i): Entry => [i % 11, i])
      await withOrder(entries, async (db) => {
        await rebuild(db, many)
        const counts = await Promise.all([0, 1, 2, 3, 4, 5, 6].map((n) => countAll(db, `essai/${n}`)))
        expect(counts).toEqual([0, 1, 2, 3, 4, 5, 6].map((n) => entries.filter(([, id]) => id % 7 === n).length))
        expect(await verifyOrders(db, many)).toEqual([])
        await db.exec("update noeuds set nb = nb - 1 where arbre = 'essai/3' and niveau = 0")
        expect(await verifyOrders(db, many)).toEqual(['the order essai/3'])
      })
    })
  })

  describe('verifyOrders', () => {
    test('reports an order with a node whose count is off by one, or with a missing node', async () => {
      const damage = fc.constantFrom('nb = nb + 1', 'nb = nb - 1', 'nb = nb + 32', undefined)
      await fc.assert(
        fc.asyncProperty(anyEntries(1), fc.nat(), damage, async (entries, pick, change) => {
          await withOrder(entries, async (db) => {
            const nodes = await db.select<{ niveau: number; cle: number; id: number }>(
              "select niveau, cle, id from noeuds where arbre = 'essai' order by niveau, cle, id",
            )
            const { niveau, cle, id } = nodes[pick % nodes.length]!
            const where = "where arbre = 'essai' and niveau = ? and cle = ? and id = ?"
            await db.exec(
              change ? `update noeuds set ${change} ${where}` : `delete from noeuds ${where}`,
              niveau,
              cle,
              id,
            )
            expect(await verifyOrders(db, ESSAI)).toEqual(['the order essai'])
          })
        }),
        { numRuns: shareOf(100) },
      )
    })

    test('reports an order whose table has one entry more or less than when it was built', async () => {
      await fc.assert(
        fc.asyncProperty(anyEntries(1), fc.nat(), async (entries, pick) => {
          await withOrder(entries, async (db) => {
            const [cle, id] = entries[pick % entries.length]!
            await db.exec('delete from essai where cle = ? and id = ?', cle, id)
            expect(await verifyOrders(db, ESSAI)).toEqual(['the order essai'])
            await db.exec('insert into essai values (?, ?), (?, ?)', cle, id, 1_000, 1)
            expect(await verifyOrders(db, ESSAI)).toEqual(['the order essai'])
          })
        }),
        { numRuns: shareOf(50) },
      )
    })

    test('reports an order with a leaf larger than a read ever takes', async () => {
      const entries = Array.from({ length: MAX_MEMBERS + 33 }, (_, id): Entry => [7, id + 1])
      await withOrder(entries, async (db) => {
        await db.exec("delete from noeuds where arbre = 'essai' and niveau = 0 and id in (33, 65)")
        await db.exec("update noeuds set nb = 96 where arbre = 'essai' and niveau = 0 and id = 0")
        expect(await verifyOrders(db, ESSAI)).toEqual(['the order essai'])
      })
    })

    test('reports an order that counts entries which do not exist', async () => {
      await withOrder([], async (db) => {
        await db.exec("insert into noeuds (arbre, niveau, cle, date, id, nb) values ('essai', 0, 1, 0, 1, 1)")
        expect(await verifyOrders(db, ESSAI)).toEqual(['the order essai'])
      })
    })
  })
})

const ESSAI = { pattern: 'essai', entries: "select 'essai' as arbre, cle, 0 as date, id from essai" }
const NONE = { pattern: 'essai', entries: 'select null as arbre, 0 as cle, 0 as date, 0 as id where false' }

/** Builds the order of some entries, and passes it on with the sorted entries, in one transaction. */
async function withOrder(entries: Entry[], work: (db: Db, sorted: Entry[]) => Promise<void>): Promise<void> {
  await store.write({}, async (db) => {
    await db.exec('delete from essai')
    await db.exec('delete from noeuds')
    await db.load('essai', ['cle', 'id'], entries)
    await rebuild(db, ESSAI)
    await work(db, [...entries].sort(compare))
  })
}

async function expectRow(db: Db, sorted: Entry[], row: number): Promise<void> {
  const { cle, id, skip } = (await seek(db, 'essai', row))!
  expect(skip).toBeGreaterThanOrEqual(0)
  expect(skip).toBeLessThan(MAX_MEMBERS)
  expect([row, countBefore(sorted, [cle, id]) + skip]).toEqual([row, row])
}

async function expectNoRow(db: Db, row: number): Promise<void> {
  expect(await seek(db, 'essai', row)).toBeUndefined()
}

async function expectLeaf(db: Db, sorted: Entry[], key: Entry): Promise<void> {
  const leaf = await leafOf(db, 'essai', { cle: key[0], date: 0, id: key[1] })
  expect(compare([leaf.cle, leaf.id], key)).toBeLessThanOrEqual(0)
  expect([key, leaf.before]).toEqual([key, countBefore(sorted, [leaf.cle, leaf.id])])
  expect(countBefore(sorted, key) - leaf.before).toBeLessThanOrEqual(MAX_MEMBERS)
}

/** How many entries of a sorted array come before a key, by binary search. */
function countBefore(sorted: Entry[], key: Entry): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (compare(sorted[middle]!, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function compare(a: Entry, b: Entry): number {
  return a[0] - b[0] || a[1] - b[1]
}

function anyEntry(): fc.Arbitrary<Entry> {
  const cle = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -1_000_000_000_000, max: 999 }))
  return fc.tuple(cle, fc.integer({ min: 1, max: 500 }))
}

function anyEntries(minLength = 0): fc.Arbitrary<Entry[]> {
  const selector = ([cle, id]: Entry) => `${cle} ${id}`
  return fc.uniqueArray(anyEntry(), { minLength, maxLength: 150, size: 'max', selector })
}
