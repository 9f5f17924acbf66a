import { type SelectQueryBuilder, sql } from 'kysely'
import type { RecordColumn } from '../dependencies.js'
import { type Builder, forRows, hidden, rowsIn, statement, written } from '../query.js'
import { COVERED } from '../reads.js'
import type { Tables } from '../tables.js'
import { type End, KEY, type Key, type Tie } from './key.js'
import { MAX_MEMBERS } from './tree.js'

/** The description of one order, or of many over one table. */
export interface Declaration<K, R extends K> {
  /** The name in the table `noeuds`. Where there are many, a slash and a value follow it. */
  name: string
  table: keyof Tables
  /** The columns that make the key of an entry; a missing one is 0. A row where one is null has no entry. */
  key: Readonly<Partial<Record<keyof Key, string>>>
  /** Where there are many, the column with the value of the one that a row has its entry in; a row with none has no entry. */
  by?: { column: string; none?: string }
  /** What a page shows of its entries. */
  rows(q: Builder): SelectQueryBuilder<Tables, keyof Tables, R>
  /** The records that these rows show besides, by the column of the same name. */
  shows?: RecordColumn
  /** The key of such a row, from what it needs of the row; a missing column is 0. */
  keyOf(row: K): Partial<Tie>
}

/** Identifies one order of many. */
export type Value = number | string

/** Where a read starts; the value is that of one order of many. */
type At = Key & { value: Value }

/** The queries of a declaration. All of them read the index of its table from a key on. */
export function readsOf<K, R extends K>({ table, key, by, rows: rowsOf }: Declaration<K, R>) {
  const used = KEY.filter((column) => key[column])
  const names = sql.join(used.map((column) => sql.ref(`${table}.${key[column]}`)))
  const from = (q: Builder, at: At) => {
    const start = sql<boolean>`(${names}) >= (${sql.join(used.map((column) => hidden(q, at[column])))})`
    if (!by) return start
    const value = hidden(q, at.value, by.none === undefined ? 'bigint' : 'text')
    return sql<boolean>`${sql.ref(`${table}.${by.column}`)} = ${value} and ${start}`
  }
  return {
    select: forRows((rows) => statement<At>(COVERED)((q, p) => rowsOf(q).where(from(q, p)).orderBy(names).limit(rows))),
    withIds: statement<{ ids: string }>(COVERED)((q, p) => {
      const isKeyed = used.map((column) => sql`${sql.ref(`${table}.${key[column]}`)} is not null and`)
      const id = sql.ref(`${table}.${key.id}`)
      return rowsOf(q).where(sql<boolean>`${sql.join(isKeyed, sql` `)} ${id} in (${rowsIn(q, p.ids, ['id'])})`)
    }),
    // The inner limit reads at most one leaf. An index scan up to the end would read all entries that tie with it.
    countInLeaf: written<At & End, { nb: number }>((p, q) => {
      const columns = sql.join(used.map((column) => sql.ref(key[column] as string)))
      return sql`select count(*) as nb from (
          select ${names} from ${sql.table(table)} where ${from(q, p)} order by ${names} limit ${sql.lit(MAX_MEMBERS)}
        ) as leaf where (${columns}) < (${sql.join(used.map((column) => p[`end_${column}`]))})`
    }, COVERED),
    /**
     * The same for many ranges, which are parsed once. SQLite seeks by all columns only if they are compared with no columns,
     * hence the signs.
     */
    countInLeaves: written<{ ranges: string }, { i: number; nb: number }>((p, q) => {
      const columns = sql.join(used.map((column) => sql.ref(key[column] as string)))
      const [start, end] = ['', 'end_'].map((of) => sql.join(used.map((column) => sql.raw(`+r.${of}${column}`))))
      const ranges = rowsIn(q, p.ranges, ['i', ...KEY, ...KEY.map((column) => `end_${column}`)])
      return sql`with r as materialized (${ranges}) select i, (select count(*) from (
          select ${names} from ${sql.table(table)} where (${names}) >= (${start}) order by ${names} limit ${sql.lit(MAX_MEMBERS)}
        ) as leaf where (${columns}) < (${end})) as nb from r`
    }, COVERED),
    slice: (q: Builder, at: At, rows: number) => {
      const entry = KEY.map((column) => sql`${key[column] ? sql.ref(key[column]) : sql.lit(0)} as ${sql.ref(column)}`)
      return sql<Key>`select ${sql.join(entry)} from ${sql.table(table)} where ${from(q, at)} order by ${names} limit ${rows}`
    },
  }
}
