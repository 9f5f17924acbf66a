import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type DumpLine, engines, importInto, makeStore } from '../../test/harness.js'
import type { Store } from '../store/store.js'
import { Faults } from './faults.js'
import { ImportError } from './import.js'

let store: Store
let close: () => Promise<void>

describe.each(engines)('on %s,', (engine) => {
  beforeEach(async () => {
    const made = await makeStore(engine)
    store = made.store
    close = made.close
  })

  afterEach(() => close())

  describe('faults found by a query', () => {
    test('are all counted, and only those to be shown are fetched, in order of the lines', async () => {
      const faults = new Faults()
      for (let line = 1; line <= Faults.SHOWN - 3; line++) faults.add(line, `early ${line}`)
      let fetched = 0
      const found = 'with recursive n(ligne) as (select 9 union all select ligne + 1 from n where ligne < 500000) '
      const select = 'select ligne, ligne % 7 as reste from n'
      await store.read(async (db) => {
        for (let round = 0; round < 2; round++) {
          await faults.addFound<{ ligne: number; reste: number }>(db, `${found}${select}`, ({ reste }) => {
            fetched++
            return `rest ${reste}`
          })
        }
      })
      expect([faults.count, fetched]).toEqual([Faults.SHOWN - 3 + 2 * 499_992, 3])
      expect(faults.shown.slice(-3)).toEqual(['line 9: rest 2', 'line 10: rest 3', 'line 11: rest 4'])
    })

    const many = 5_000
    const numbers = Array.from({ length: many }, (_, i) => i + 1)
    const cles = numbers.slice(0, 1_000).map(cle)
    const used = numbers.flatMap((id) => [rubrique(id), challenge(id)])
    const rich = numbers.map((id) => ({ ...auteur(id), score_base: Number.MAX_SAFE_INTEGER }))

    test.each<
      [
        string,
        { before?: DumpLine[]; lines: DumpLine[]; count?: number; groups?: number; expected: (i: number) => string },
      ]
    >([
      [
        'different lines of one record',
        {
          lines: [...numbers.map((id) => auteur(id)), ...numbers.map((id) => auteur(id, 'other'))],
          expected: (i) => `line ${many + i}: differs from line ${i}, which has the same id_auteur`,
        },
      ],
      [
        'keys in several accounts',
        {
          lines: [auteur(1), compte('alice', cles), compte('bob', cles)],
          count: cles.length,
          groups: 1,
          expected: () => 'line 3: cles has an empreinte twice, first in line 2 (20 times)',
        },
      ],
      [
        'validations by missing authors',
        {
          before: [rubrique(1), challenge(1)],
          lines: numbers.map((id) => validation(many + 1 - id)),
          expected: (i) => `line ${i}: id_auteur names ${many + 1 - i}, which auteurs does not have`,
        },
      ],
      [
        'removed rubriques that are in use',
        {
          before: used,
          lines: numbers.map((id) => ({ type: 'rubrique', id_rubrique: id, supprime: true })),
          expected: (i) => `line ${i}: rubrique ${i} is still used by challenge ${i}`,
        },
      ],
      [
        'points past the limit',
        {
          before: [rubrique(1), challenge(1), ...rich],
          lines: numbers.map(validation),
          expected: (i) => `the points of auteur ${i}, with the base or without, would pass 9007199254740991`,
        },
      ],
    ])(
      'have an exact count and order: %s',
      async (_, { before = [], lines, count = many, groups = Faults.SHOWN, expected }) => {
        await importInto(store, before)
        const error = await importInto(store, lines, { withAccounts: true }).catch((thrown: unknown) => thrown)
        if (!(error instanceof ImportError)) throw error
        expect(error.faults.count).toBe(count)
        expect(error.faults.shown).toEqual(numbers.slice(0, groups).map(expected))
      },
    )
  })
})

function rubrique(id: number): DumpLine {
  return { type: 'rubrique', id_rubrique: id, nom: 'r' }
}

function validation(idAuteur: number): DumpLine {
  return { type: 'validation', id_auteur: idAuteur, id_challenge: 1 }
}

function auteur(id: number, nom = 'a'): DumpLine {
  return { type: 'auteur', id_auteur: id, nom }
}

function challenge(id: number, score = 1): DumpLine {
  return { type: 'challenge', id_challenge: id, id_rubrique: id, titre: 'c', score }
}

function compte(login: string, cles: DumpLine[]): DumpLine {
  const mot_de_passe = '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$Y2hlY2tjaGVja2NoZWNrY2hlY2tjaGVja2NoZWNrYWx0'
  const flags = { operateur: false, desactive: false, creation: '2025-01-01T00:00:00Z' }
  return { type: 'compte', login, id_auteur: 1, mot_de_passe, ...flags, cles }
}

function cle(id: number): DumpLine {
  const dates = { creation: '2025-01-01T00:00:00Z', expiration: '2035-01-01T00:00:00Z' }
  const empreinte = id.toString(16).padStart(64, '0')
  return { id, nom: 'key', prefixe: 'palm_abcdef', empreinte, portee: ['lecture'], ...dates }
}
