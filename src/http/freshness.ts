import type { JournalEntry } from '../store/changes.js'
import { type Dependencies, type Span, touchedBy } from '../store/dependencies.js'

/** Records and changes of orders that are remembered; past them, everything older counts as touched. */
const MAX_REMEMBERED = 50_000
const MAX_CHANGES_OF_ORDER = 64

/** A change of a counted order: between which keys, and whether its entries are as many as before. */
interface OrderChange {
  version: number
  de: number
  a: number
  isSameCount: boolean
}

interface Order {
  /** Oldest first. */
  changes: OrderChange[]
  /** Changes up to this version are forgotten. */
  floor: number
}

/** Says whether what an answer was made from has changed since, from what the journal said. */
export class Freshness {
  /** Everything that was made before this version counts as touched. */
  private floor = 0
  /** The version that last touched any record of a table, all of them, or one by a column. */
  private readonly tables = new Map<string, number>()
  private readonly wholes = new Map<string, number>()
  private readonly records = new Map<string, Map<number, number>>()
  private readonly orders = new Map<string, Order>()
  private remembered = 0

  /** Takes the lines that led to a version; undefined where they are not known. */
  note(version: number, entries: readonly JournalEntry[] | undefined): void {
    if (!entries?.every((entry) => this.noteEntry(version, entry)) || this.remembered > MAX_REMEMBERED) {
      this.forget(version)
    }
  }

  /** Whether an answer that was made from a version is what one made now would be. */
  isFresh({ isEverything, tables, records, orders }: Dependencies, version: number): boolean {
    if (version < this.floor || isEverything) return false
    for (const table of tables) if ((this.tables.get(table) ?? 0) > version) return false
    for (const [column, ids] of records) if (this.isTouched(column, ids, version)) return false
    for (const [arbre, spans] of orders) if (this.hasMoved(arbre, spans, version)) return false
    return true
  }

  /** Counts all that was made before a version as touched. */
  private forget(version: number): void {
    this.floor = version
    this.tables.clear()
    this.wholes.clear()
    this.records.clear()
    this.orders.clear()
    this.remembered = 0
  }

  /** Says whether it is known what the line touches. */
  private noteEntry(version: number, entry: JournalEntry): boolean {
    const touched = touchedBy(entry)
    if (!touched) return false
    for (const [table, ids] of touched) {
      this.tables.set(table, version)
      if (ids === 'all') this.wholes.set(table, version)
      else for (const column in ids) this.noteRecord(`${table}.${column}`, ids[column] as number, version)
    }
    for (const [arbre, [de, a, isSameCount]] of Object.entries(entry.rangs ?? {})) {
      this.noteOrder(arbre, { version, de, a, isSameCount })
    }
    return true
  }

  private noteRecord(column: string, id: number, version: number): void {
    const ids = this.records.get(column) ?? new Map<number, number>()
    this.records.set(column, ids)
    if (!ids.has(id)) this.remembered++
    ids.set(id, version)
  }

  private noteOrder(arbre: string, change: OrderChange): void {
    const order = this.orders.get(arbre) ?? { changes: [], floor: 0 }
    this.orders.set(arbre, order)
    order.changes.push(change)
    if (order.changes.length > MAX_CHANGES_OF_ORDER) order.floor = order.changes.shift()?.version ?? 0
    else this.remembered++
  }

  private isTouched(column: string, ids: readonly number[], version: number): boolean {
    if ((this.wholes.get(column.slice(0, column.indexOf('.'))) ?? 0) > version) return true
    const touched = this.records.get(column)
    return touched !== undefined && ids.some((id) => (touched.get(id) ?? 0) > version)
  }

  private hasMoved(arbre: string, spans: readonly Span[], version: number): boolean {
    const order = this.orders.get(arbre)
    if (!order) return false
    if (version < order.floor) return true
    return order.changes.some(
      ({ version: changed, de, a, isSameCount }) =>
        changed > version && (!isSameCount || spans.some(([from, to]) => de <= to && a >= from)),
    )
  }
}
