import { type SelectQueryBuilder, sql } from 'kysely'
import type { RecordColumn } from '../dependencies.js'
import { type Builder, forRows, hidden, statement, written } from '../query.js'
import { COVERED } from '../reads.js'
import type { Db } from '../store.js'
import type { Tables } from '../tables.js'
import { type End, endAt, FIRST, isTie, KEY, type Key, type Tie, ZERO } from './key.js'
import { countAll, leafOf, MAX_MEMBERS, seek } from './tree.js'

/** All that there is to know of one order, or of many over one table. */
interface Declaration<K, R extends K> {
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

/** Declares one order, or many over one table. `of` returns one of many, by its value. */
export function order<K, R extends K>(declared: Declaration<K, R>): Order<K, R> {
  return new Order(declared.name, declared, readsOf(declared))
}

/** What keeps trees up to date needs this of an order, or of many. */
export type Maintained = Pick<Order<never, never>, 'pattern' | 'entries' | 'entry' | 'has' | 'slice'>

/**
 * A long sorted list that is read at the same cost at any depth. The index of its table finds the entries from a key on. The
 * tree of the order finds the key of a row, and the row of a key.
 */
export class Order<K, R extends K> {
  constructor(
    readonly name: string,
    private readonly declared: Declaration<K, R>,
    private readonly reads: ReturnType<typeof readsOf<K, R>>,
    private readonly value: Value = 0,
  ) {}

  /** The order with a value, of many. */
  of(value: Value): Order<K, R> {
    return new Order(`${this.declared.name}/${value}`, this.declared, this.reads, value)
  }

  count(db: Db): Promise<number> {
    return countAll(db, this.name)
  }

  /** So many rows from a zero-based one on. */
  async page(db: Db, debut: number, limite: number): Promise<R[]> {
    const leaf = await seek(db, this.name, debut)
    const rows = leaf ? (await this.rowsFrom(db, leaf, limite)).slice(leaf.skip) : []
    this.noteRows(db, rows)
    return rows
  }

  /** The same, with the rank of each row: how many entries come before it and do not tie with it. */
  async rankedPage<T>(db: Db, debut: number, limite: number, show: (row: R, rank: number) => T): Promise<T[]> {
    const leaf = await seek(db, this.name, debut)
    if (!leaf) {
      this.noteRows(db, [])
      return []
    }
    // A tie that starts in this leaf shows in its rows. One that starts before it is that of the key of the leaf.
    const [rank, rows] = await Promise.all([this.countBefore(db, { ...leaf, id: 0 }), this.rowsFrom(db, leaf, limite)])
    const rankOf = this.ranksFrom(debut - leaf.skip, { tie: leaf, rank })
    this.noteRows(db, rows.slice(leaf.skip))
    return rows.map((row) => show(row, rankOf(row))).slice(leaf.skip)
  }

  /** How many entries come before a key. A column that is not given is 0. */
  rank(db: Db, given: Partial<Key>): Promise<number> {
    const key = { ...ZERO, ...given }
    db.reads?.order(this.name, key.cle, key.cle)
    return this.countBefore(db, key)
  }

  private async countBefore(db: Db, key: Key): Promise<number> {
    const leaf = await leafOf(db, this.name, key)
    const found = await db.get(this.reads.countInLeaf, { ...leaf, ...endAt(key), value: this.value })
    return leaf.before + Number(found?.nb)
  }

  /** The key of a row, without the id. */
  keyOf(row: K): Tie {
    const { cle = 0, date = 0 } = this.declared.keyOf(row)
    return { cle, date }
  }

  /**
   * Returns the rank of each row in turn, for rows that are read in order from a zero-based one on. If that one may tie with
   * those before it, `known` is the rank of a tie that it may belong to.
   */
  ranksFrom(first: number, known?: { tie: Tie; rank: number }): (row: K) => number {
    let next = first
    let last = known
    return (row) => {
      const tie = this.keyOf(row)
      if (!last || !isTie(tie, last.tie)) last = { tie, rank: next }
      next++
      return last.rank
    }
  }

  /** A page depends on the keys from its first row to its last, and on the records that its rows show. */
  private noteRows({ reads }: Db, rows: readonly R[]): void {
    if (!reads) return
    const [first, last] = [rows[0], rows.at(-1)]
    reads.order(this.name, ...(first && last ? ([this.keyOf(first).cle, this.keyOf(last).cle] as const) : []))
    const { shows } = this.declared
    if (!shows) return
    const [, column] = shows.split('.') as [string, keyof R]
    reads.records(
      shows,
      rows.map((row) => row[column] as number),
    )
  }

  /** Rows from the start of a leaf on, up to so many after those to skip. */
  private async rowsFrom(db: Db, leaf: Key & { skip: number }, limite: number): Promise<R[]> {
    const rows = leaf.skip + limite
    const found = await db.all(this.reads.select(rows), { ...leaf, value: this.value })
    return found.slice(0, rows)
  }

  /** How `walk` reads all of the table in this order. */
  get walk() {
    const { table, key } = this.declared
    const used = KEY.filter((column) => key[column])
    return { from: table, key: used.map((column) => key[column] as string), after: used.map((column) => FIRST[column]) }
  }

  /** Whether an order of the table `noeuds` is declared here. */
  has(name: string): boolean {
    return name.split('/')[0] === this.declared.name
  }

  /** So many entries of the order of that name from a key on. An end by key would be read through all that ties with it. */
  slice(db: Db, name: string, from: Key, rows: number): Promise<Key[]> {
    const value = name.slice(name.indexOf('/') + 1)
    const at = { ...from, value: typeof this.declared.by?.none === 'string' ? value : Number(value) }
    return db.all({ compile: () => this.reads.slice(db.q, at, rows).compile(db.q) })
  }

  /** The names in the table `noeuds`, for SQL's `like`. */
  get pattern(): string {
    return this.declared.by ? `${this.declared.name}/%` : this.declared.name
  }

  /** The columns of the table that make an entry. */
  get columns(): string {
    const { by, key } = this.declared
    return [by?.column ?? [], Object.values(key)].flat().join(', ')
  }

  /** A row's entry, in SQL: the name of its order and its key. */
  entry(alias: string): string {
    const { name, by, key } = this.declared
    const of = by ? `'${name}/' || ${alias}.${by.column}` : `'${name}'`
    return `${of} as arbre, ${KEY.map((c) => `${key[c] ? `${alias}.${key[c]}` : 0} as ${c}`).join(', ')}`
  }

  /** A select of all entries. */
  get entries(): string {
    return `select ${this.entry('t')} from ${this.declared.table} t where ${this.isEntry('t')}`
  }

  /** Whether a row has an entry, in SQL. */
  isEntry(alias: string): string {
    const { key, by } = this.declared
    const isKeyed = Object.values(key).map((column) => `${alias}.${column} is not null`)
    return [...isKeyed, by?.none === undefined ? [] : `${alias}.${by.column} <> '${by.none}'`].flat().join(' and ')
  }
}

/** What tells one order of many. */
type Value = number | string

/** Where a read starts; the value is that of one order of many. */
type At = Key & { value: Value }

/** The queries of a declaration. All of them read the index of its table from a key on. */
function readsOf<K, R extends K>({ table, key, by, rows: rowsOf }: Declaration<K, R>) {
  const used = KEY.filter((column) => key[column])
  const names = sql.join(used.map((column) => sql.ref(`${table}.${key[column]}`)))
  const from = (q: Builder, at: At) => {
    const start = sql<boolean>`(${names}) >= (${sql.join(used.map((column) => hidden(q, at[column])))})`
    const type = by?.none === undefined ? 'bigint' : 'text'
    return by ? sql<boolean>`${sql.ref(`${table}.${by.column}`)} = ${hidden(q, at.value, type)} and ${start}` : start
  }
  return {
    select: forRows((rows) => statement<At>(COVERED)((q, p) => rowsOf(q).where(from(q, p)).orderBy(names).limit(rows))),
    // The inner limit reads at most one leaf. An index scan up to the end would read all entries that tie with it.
    countInLeaf: written<At & End, { nb: number }>((p, q) => {
      const columns = sql.join(used.map((column) => sql.ref(key[column] as string)))
      return sql`select count(*) as nb from (
          select ${names} from ${sql.table(table)} where ${from(q, p)} order by ${names} limit ${sql.lit(MAX_MEMBERS)}
        ) as leaf where (${columns}) < (${sql.join(used.map((column) => p[`end_${column}`]))})`
    }, COVERED),
    slice: (q: Builder, at: At, rows: number) => {
      const entry = KEY.map((column) => sql`${key[column] ? sql.ref(key[column]) : sql.lit(0)} as ${sql.ref(column)}`)
      return sql<Key>`select ${sql.join(entry)} from ${sql.table(table)} where ${from(q, at)} order by ${names} limit ${rows}`
    },
  }
}
