import { textOfRows } from '../query.js'
import type { Db } from '../store.js'
import { type Declaration, readsOf, type Value } from './declaration.js'
import { endAt, FIRST, isBefore, isTie, KEY, type Key, type Tie, ZERO } from './key.js'
import { countAll, leafOf, seek, TOP_LEVEL } from './tree.js'

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
  /** The column of a row with the id of its entry. */
  private readonly idColumn: keyof R

  constructor(
    readonly name: string,
    private readonly declared: Declaration<K, R>,
    private readonly reads: ReturnType<typeof readsOf<K, R>>,
    private readonly value: Value = 0,
  ) {
    this.idColumn = (declared.shows?.split('.')[1] ?? 'id') as keyof R
  }

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

  /**
   * The rows with these ids that have an entry, in order, with two ranks of each: among all entries, and among these. Meant for
   * some hundred ids of one order, not of many over a table: they are found by id, and sorted in memory.
   */
  async rankedAmong<T>(db: Db, ids: readonly number[], show: (row: R, rank: number, among: number) => T): Promise<T[]> {
    const found = await db.all(this.reads.withIds, { ids: textOfRows(ids.map((id) => [id])) })
    const entries = found.map((row) => ({ ...this.keyOf(row), id: Number(row[this.idColumn]), row }))
    entries.sort((a, b) => (isBefore(a, b) ? -1 : 1))
    const ties = entries.map(({ cle, date }) => ({ cle, date, id: 0 }))
    const ranks = await this.countBeforeEach(db, ties)
    this.noteSome(db, ids, ties)
    const among = this.ranksFrom(0)
    return entries.map(({ row }, i) => show(row, ranks[i] as number, among(row)))
  }

  private async countBefore(db: Db, key: Key): Promise<number> {
    const leaf = await leafOf(db, this.name, key)
    const found = await db.get(this.reads.countInLeaf, { ...leaf, ...endAt(key), value: this.value })
    return leaf.before + Number(found?.nb)
  }

  /** The same for many keys, with one count for all. */
  private async countBeforeEach(db: Db, keys: readonly Key[]): Promise<number[]> {
    const leaves: (Key & { before: number })[] = []
    // In turn, so that each finds the nodes that were read for those before it.
    for (const key of keys) leaves.push(await leafOf(db, this.name, key))
    const ranges = keys.map((key, i) => [
      i,
      ...[leaves[i] as Key, key].flatMap((each) => KEY.map((name) => each[name])),
    ])
    const counted = await db.all(this.reads.countInLeaves, { ranges: textOfRows(ranges) })
    const inLeaf = new Map(counted.map(({ i, nb }) => [Number(i), Number(nb)]))
    return leaves.map(({ before }, i) => before + (inLeaf.get(i) as number))
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
    reads.records(
      shows,
      rows.map((row) => row[this.idColumn] as number),
    )
  }

  /** Some rows depend on their own keys. One without an entry may get one by a change of its record. */
  private noteSome({ reads }: Db, ids: readonly number[], ties: readonly Tie[]): void {
    if (!reads) return
    reads.order(this.name)
    for (const cle of new Set(ties.map((tie) => tie.cle))) reads.order(this.name, cle, cle)
    if (this.declared.shows) reads.records(this.declared.shows, ids)
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

  /** How many entries the order of a value has, in SQL; null if it has no tree. */
  total(value: string): string {
    return `(select sum(n.nb) from noeuds n where n.arbre = '${this.declared.name}/' || ${value} and n.niveau = ${TOP_LEVEL})`
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
