import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Depends } from '../contract.js'
import type { JournalEntry } from '../store/store.js'
import { Freshness } from './freshness.js'

const anyEntry: fc.Arbitrary<JournalEntry> = fc.oneof(
  fc.record({
    ...{ type: fc.constant('validation' as const), id_auteur: fc.integer({ min: 1, max: 3 }) },
    id_challenge: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({ type: fc.constant('auteur' as const), id_auteur: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ type: fc.constantFrom('challenge' as const, 'rubrique' as const) }),
  fc
    .tuple(fc.constantFrom('a', 'b'), fc.integer({ min: 0, max: 9 }), fc.nat(4), fc.boolean())
    .map(([arbre, de, width, isSame]): JournalEntry => {
      return { type: 'classement', rangs: { [arbre]: [de, de + width, isSame] } }
    }),
)

const anyDepends: fc.Arbitrary<Depends> = fc.record({
  names: fc.subarray(['auteurs', 'validations', 'challenges', 'rubriques', 'auteur/1', 'challenge/2']),
  noms: fc.subarray([1, 2]),
  ranges: fc.array(
    fc
      .tuple(fc.constantFrom('a', 'b'), fc.integer({ min: 0, max: 9 }), fc.nat(3))
      .map(([arbre, de, width]) => [arbre, de, de + width] as const),
    { maxLength: 2 },
  ),
})

/** Whether an entry touches an answer, said once more by hand. */
function touches(entry: JournalEntry, { names, noms = [], ranges = [] }: Depends): boolean {
  const { type, id_auteur, id_challenge, rangs = {} } = entry
  const has = (name: string) => names.includes(name)
  if (type === 'validation') return has('validations') || has(`auteur/${id_auteur}`) || has(`challenge/${id_challenge}`)
  if (type === 'auteur') return has('auteurs') || has(`auteur/${id_auteur}`) || noms.includes(id_auteur as number)
  if (type !== 'classement') return has('challenges') || has('rubriques')
  return ranges.some(([arbre, de, a]) => {
    const moved = rangs[arbre]
    return moved !== undefined && (!moved[2] || (moved[0] <= a && moved[1] >= de))
  })
}

test('an answer is fresh just as long as no entry since touches what it was made from', () => {
  fc.assert(
    fc.property(fc.array(fc.array(anyEntry, { maxLength: 3 }), { maxLength: 8 }), anyDepends, (batches, depends) => {
      const freshness = new Freshness()
      freshness.note(1, undefined)
      for (const [i, entries] of batches.entries()) freshness.note(i + 2, entries)
      for (let version = 1; version <= batches.length + 1; version++) {
        const since = batches.slice(version - 1).flat()
        expect(freshness.isFresh(depends, version)).toBe(!since.some((entry) => touches(entry, depends)))
      }
      expect(freshness.isFresh(undefined, batches.length)).toBe(false)
    }),
    { numRuns: 500 },
  )
})

test('what cannot be known, and what was forgotten to stay within bounds, counts as touched', () => {
  const freshness = new Freshness()
  const nothing: Depends = { names: [] }
  freshness.note(5, undefined)
  expect([freshness.isFresh(nothing, 4), freshness.isFresh(nothing, 5)]).toEqual([false, true])
  freshness.note(6, [{ type: 'portail' }])
  expect([freshness.isFresh(nothing, 5), freshness.isFresh(nothing, 6)]).toEqual([false, true])
  const page: Depends = { names: [], ranges: [['a', 50, 60]] }
  for (let version = 7; version < 7 + 65; version++) {
    freshness.note(version, [{ type: 'classement', rangs: { a: [1, 2, true] } }])
  }
  expect([freshness.isFresh(page, 6), freshness.isFresh(page, 7), freshness.isFresh(nothing, 6)]).toEqual([
    false,
    true,
    true,
  ])
  freshness.note(
    100,
    Array.from({ length: 60_000 }, (_, i) => ({ type: 'auteur' as const, id_auteur: i + 1 })),
  )
  expect([freshness.isFresh(nothing, 99), freshness.isFresh(nothing, 100)]).toEqual([false, true])
})
