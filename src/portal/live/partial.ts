import type { Kind } from '../../model/kind.js'
import { bitOf } from '../../model/line.js'
import { lotOf, sameKey } from '../lot.js'
import type { Refusing } from './rules.js'

/**
 * Statements that complete the partial lines of a lot from the records that they change. After them a partial line reads as
 * a whole one, so the rules of its kind need not know of it. A line whose record is missing stays as it is: see `missing`.
 */
export function completionOf(kind: Kind): string[] {
  const { table, key, columns, sources, list } = kind
  const lot = lotOf(table)
  const kept = columns.map((column, i) => {
    const { field } = sources[key.length + i]!
    return `${column} = case when ${isAbsent(kind, field)} then t.${column} else ${lot}.${column} end`
  })
  if (kind.type === 'auteur') kept.push(KEPT_BASE(kind))
  const completion = `update ${lot} set ${kept.join(', ')} from ${table} t where absents is not null and ${sameKey(kind, 't', lot)}`
  if (!list) return [completion]
  const own = key.map((column) => `l.${column}`).join(', ')
  const listed = list.columns.join(', ')
  return [
    completion,
    `insert into ${lotOf(list.table)} (ligne, ${key.join(', ')}, ${listed})
     select l.ligne, ${own}, ${listed} from ${lot} l cross join ${list.table} t
     where ${sameKey(kind, 't', 'l')} and l.absents is not null and ${isAbsent(kind, list.field, 'l')}`,
  ]
}

/** A line that names neither score keeps the base; one that names either sets it as a whole line does. */
const KEPT_BASE = (kind: Kind) =>
  `base_voulue = case when ${isAbsent(kind, 'score')} and ${isAbsent(kind, 'score_base')} then t.base else base_voulue end`

/** Partial lines whose record the portal does not have, nor another table. */
export function missing(kind: Kind, alsoIn?: string): Refusing {
  const { table, type } = kind
  const tables = alsoIn ? [table, alsoIn] : [table]
  const isAbsentFrom = (each: string) => `not exists (select 1 from ${each} t where ${sameKey(kind, 't', 'l')})`
  return {
    select: `select l.ligne, 0 as id from ${lotOf(table)} l
      where l.absents is not null and ${tables.map(isAbsentFrom).join(' and ')}`,
    reason: () => `partiel changes a record, and the portal does not have this ${type}; a whole line adds it`,
  }
}

function isAbsent(kind: Kind, field: string, lot = lotOf(kind.table)): string {
  return `(${lot}.absents & ${bitOf(kind, field)}) <> 0`
}
