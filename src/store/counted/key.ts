import { type RawBuilder, sql } from 'kysely'

/**
 * What sorts the entries of a counted order; no two entries of one order have the same key. These are columns of the table
 * `noeuds`. To sort by one more, change this file, and the declarations of the orders that have it.
 */
export const KEY = ['cle', 'date', 'id'] as const
export type Key = Record<(typeof KEY)[number], number>

/** A key without its id. Entries that share it tie. */
export type Tie = Omit<Key, 'id'>

/** Sorts before every entry. The first node of each level starts here. */
export const FIRST: Key = { cle: -Number.MAX_SAFE_INTEGER, date: -Number.MAX_SAFE_INTEGER, id: 0 }
/** Sorts after every entry. */
export const LAST: Key = { cle: Number.MAX_SAFE_INTEGER, date: Number.MAX_SAFE_INTEGER, id: 2 ** 53 }
/** What a column is where it is not given. The id 0 sorts before all entries that tie. */
export const ZERO: Key = { cle: 0, date: 0, id: 0 }

export function isBefore(a: Key, b: Key): boolean {
  if (a.cle !== b.cle) return a.cle < b.cle
  return a.date < b.date || (a.date === b.date && a.id < b.id)
}

export function isTie(a: Tie, b: Tie): boolean {
  return a.cle === b.cle && a.date === b.date
}

export function textOf({ cle, date, id }: Key): string {
  return `${cle} ${date} ${id}`
}

/** The end of a range of keys. It is named apart from the start, as both are parameters of one statement. */
export type End = { [C in keyof Key as `end_${C}`]: number }

export function endAt({ cle, date, id }: Key): End {
  return { end_cle: cle, end_date: date, end_id: id }
}

/** The columns of a key in SQL, with what comes before and after the name of each. */
export function columns(before = '', after = ''): string {
  return KEY.map((column) => `${before}${column}${after}`).join(', ')
}

/** Whether two aliases have the same key, in SQL. */
export function isSame(a: string, b: string): string {
  return KEY.map((column) => `${a}.${column} = ${b}.${column}`).join(' and ')
}

/** The parameters of a statement that make the start of a range, in SQL. */
export function startOf(p: Key): RawBuilder<unknown> {
  return sql.join(KEY.map((column) => p[column]))
}

/** The same for its end. */
export function endOf(p: End): RawBuilder<unknown> {
  return sql.join(KEY.map((column) => p[`end_${column}`]))
}
