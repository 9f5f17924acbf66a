import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JournalEntry } from '../store/changes.js'
import type { DataTable, RecordColumn, Span } from '../store/dependencies.js'
import { Reads } from '../store/reads.js'
import { Freshness } from './freshness.js'

/** What a response depends on, in a notation that is short to write. */
interface Shown {
  tables: DataTable[]
  records: [RecordColumn, number][]
  orders: [arbre: string, ...span: Span | []][]
}

const id = fc.integer({ min: 1, max: 3 })
const supprime = fc.constantFrom(0, 1)
const key = fc.integer({ min: 0, max: 9 })

const anyEntry: fc.Arbitrary<JournalEntry> = fc.oneof(
  fc.record({ type: fc.constant('validation' as const), id_auteur: id, id_challenge: id }),
  fc.record({ type: fc.constant('auteur' as const), id_auteur: id, supprime }),
  fc.record({ type: fc.constant('challenge' as const), id_challenge: id, supprime }),
  fc.record({ type: fc.constant('rubrique' as const), id_rubrique: id }),
  fc.tuple(fc.constantFrom('a', 'b'), key, fc.nat(4), fc.boolean()).map(([arbre, de, width, isSame]): JournalEntry => {
    return { type: 'classement', rangs: { [arbre]: [de, de + width, isSame] } }
  }),
)

const anyShown: fc.Arbitrary<Shown> = fc.record({
  tables: fc.subarray<DataTable>(['auteurs', 'validations', 'challenges', 'challenges_auteurs', 'rubriques']),
  records: fc.array(
    fc.tuple(
      fc.constantFrom<RecordColumn>(
        ...(['auteurs.id_auteur', 'rubriques.id_rubrique', 'challenges.id_challenge'] as const),
        ...(['validations.id_auteur', 'validations.id_challenge'] as const),
      ),
      id,
    ),
    { maxLength: 2 },
  ),
  orders: fc.array(
    fc.oneof(
      fc.tuple(fc.constantFrom('a', 'b')),
      fc.tuple(fc.constantFrom('a', 'b'), key, fc.nat(3)).map(([arbre, from, width]): Shown['orders'][number] => {
        return [arbre, from, from + width]
      }),
    ),
    { maxLength: 2 },
  ),
})

function dependenciesOf({ tables, records, orders }: Shown) {
  const reads = new Reads()
  for (const [column, id] of records) reads.records(column, [id])
  for (const [arbre, ...span] of orders) reads.order(arbre, ...span)
  return { ...reads.dependencies(), tables }
}

/** Whether an entry affects a response, restated by hand. */
function touches(entry: JournalEntry, { tables, records, orders }: Shown): boolean {
  const { type, supprime, id_auteur, id_challenge, id_rubrique, rangs = {} } = entry
  const table = (name: DataTable) => tables.includes(name)
  const record = (column: RecordColumn, id?: number | null) => records.some(([of, one]) => of === column && one === id)
  const anySolve = () => table('validations') || records.some(([column]) => column.startsWith('validations.'))
  if (type === 'validation') {
    const isNamed = record('validations.id_auteur', id_auteur) || record('validations.id_challenge', id_challenge)
    return table('validations') || isNamed
  }
  if (type === 'auteur') {
    const isOwn = table('auteurs') || record('auteurs.id_auteur', id_auteur)
    return isOwn || (supprime === 1 && (table('challenges_auteurs') || anySolve()))
  }
  if (type === 'challenge') {
    const isOwn = table('challenges') || table('challenges_auteurs') || record('challenges.id_challenge', id_challenge)
    return isOwn || (supprime === 1 && anySolve())
  }
  if (type === 'rubrique') return table('rubriques') || record('rubriques.id_rubrique', id_rubrique)
  return orders.some(([arbre, from, to]) => {
    const moved = rangs[arbre]
    if (!moved) return false
    return !moved[2] || (from !== undefined && to !== undefined && moved[0] <= to && moved[1] >= from)
  })
}

test('a response is fresh exactly until an entry affects what it was made from', () => {
  fc.assert(
    fc.property(fc.array(fc.array(anyEntry, { maxLength: 3 }), { maxLength: 8 }), anyShown, (batches, shown) => {
      const freshness = new Freshness()
      const dependencies = dependenciesOf(shown)
      freshness.note(1, undefined)
      for (const [i, entries] of batches.entries()) freshness.note(i + 2, entries)
      for (let version = 1; version <= batches.length + 1; version++) {
        const since = batches.slice(version - 1).flat()
        expect(freshness.isFresh(dependencies, version)).toBe(!since.some((entry) => touches(entry, shown)))
      }
      expect(freshness.isFresh({ ...dependencies, isEverything: true }, batches.length)).toBe(false)
    }),
    { numRuns: 500 },
  )
})

test('unknown changes, and changes dropped to stay within limits, count as affecting everything', () => {
  const freshness = new Freshness()
  const nothing = new Reads().dependencies()
  const isFresh = (...versions: number[]) => versions.map((version) => freshness.isFresh(nothing, version))
  freshness.note(5, undefined)
  expect(isFresh(4, 5)).toEqual([false, true])
  freshness.note(6, [{ type: 'portail' }])
  expect(isFresh(5, 6)).toEqual([false, true])
  freshness.note(7, [{ type: 'of a newer program' as 'portail' }])
  expect(isFresh(6, 7)).toEqual([false, true])
  const page = dependenciesOf({ tables: [], records: [], orders: [['a', 50, 60]] })
  for (let version = 8; version < 8 + 65; version++) {
    freshness.note(version, [{ type: 'classement', rangs: { a: [1, 2, true] } }])
  }
  expect([freshness.isFresh(page, 7), freshness.isFresh(page, 8), ...isFresh(7)]).toEqual([false, true, true])
  freshness.note(
    100,
    Array.from({ length: 60_000 }, (_, i) => ({ type: 'auteur' as const, id_auteur: i + 1 })),
  )
  expect(isFresh(99, 100)).toEqual([false, true])
})
