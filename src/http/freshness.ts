import type { JournalEntry } from '../store/changes.js'
import { type Dependencies, type Span, touchedBy } from '../store/dependencies.js'

/**
 * Maximum number of remembered records and changes in all, and of remembered changes of one order. Anything older counts as
 * changed.
 */
const MAX_REMEMBERED = 50_000
const MAX_CHANGES_OF_ORDER = 64

/** A change of a counted order: the first and the last changed key, and whether the number of entries is the same. */
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

/** Keeps what the journal says has changed, and decides whether a response is still current. */
export class Freshness {
  /** Every response that was made before this version counts as stale. */
  private floor = 0
  /** The version of the last change: of any record of a table, of all its records, of one record by a column. */
  private readonly tables = new Map<string, number>()
  private readonly wholes = new Map<string, number>()
  private readonly records = new Map<string, Map<number, number>>()
  private readonly orders = new Map<string, Order>()
  private remembered = 0

  /** Records the journal's lines that led to a version; undefined if they are unknown. */
  note(version: number, entries: readonly JournalEntry[] | undefined): void {
    if (!entries?.every((entry) => this.noteEntry(version, entry)) || this.remembered > MAX_REMEMBERED) {
      this.forget(version)
    }
  }

  /** Whether a response that was made at a version is certainly still current. */
  isFresh({ isEverything, tables, records, orders }: Dependencies, version: number): boolean {
    if (version < this.floor || isEverything) return false
    for (const table of tables) if ((this.tables.get(table) ?? 0) > version) return false
    for (const [column, ids] of records) if (this.isTouched(column, ids, version)) return false
    for (const [arbre, spans] of orders) if (this.hasMoved(arbre, spans, version)) return false
    return true
  }

  /** Makes every response from before a version stale. */
  private forget(version: number): void {
    this.floor = version
    this.tables.clear()
    this.wholes.clear()
    this.records.clear()
    this.orders.clear()
    this.remembered = 0
  }

  /** Returns false if the line may change anything. */
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
