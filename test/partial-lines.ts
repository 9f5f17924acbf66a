import fc from 'fast-check'
import type { DumpLine } from './harness.js'

const KEYS: Readonly<Record<string, readonly string[]>> = {
  rubrique: ['id_rubrique'],
  auteur: ['id_auteur'],
  challenge: ['id_challenge'],
  validation: ['id_auteur', 'id_challenge'],
}
const OPTIONAL = [
  'statut',
  'lang',
  'groupe',
  'score_base',
  'soustitre',
  'difficulte',
  'id_trad',
  'date_publication',
  'date',
]

/** Partial lines derived from whole ones: they have some of the fields, and sometimes a null. */
export function partialLines(whole: fc.Arbitrary<DumpLine>): fc.Arbitrary<DumpLine> {
  return fc
    .tuple(whole, fc.nat(0xffff), fc.nat(0xffff), fc.constantFrom(true, true, true, false))
    .filter(([{ type, supprime }]) => Object.hasOwn(KEYS, String(type)) && supprime === undefined)
    .map(([line, named, nulls, isPartial]) => {
      const rest = Object.keys(line).filter((name) => !['type', ...KEYS[String(line.type)]!].includes(name))
      const isIn = (bits: number, name: string) => ((bits >> rest.indexOf(name)) & 1) === 1
      const fields = rest
        .filter((name) => isIn(named, name))
        .map((name) => [name, OPTIONAL.includes(name) && isIn(nulls, name) ? null : line[name]])
      const key = KEYS[String(line.type)]!.map((name) => [name, line[name]])
      return isPartial
        ? { type: line.type, ...Object.fromEntries([...key, ...fields]), partiel: true }
        : { ...line, partiel: false }
    })
}
