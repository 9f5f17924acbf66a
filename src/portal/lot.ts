import type { Db } from '../store/store.js'
import type { RecordKind } from './record-kind.js'

/** The temporary table that holds the lines about one table of the portal, until they are merged into it. */
export function lotOf(table: string): string {
  return `lot_${table}`
}

/** A lot to be made: its name without the prefix, its columns, and those tables whose columns they are like. */
export interface Lot {
  table: string
  columns: Record<string, string>
  from: string
}

/** The lots of a kind: one for its records, and one for the lists in them. */
export function lotsOf(kind: RecordKind): Lot[] {
  const { table, key, columns, staged, children } = kind
  const own = { ligne: 'bigint', supprime: 'bigint', ...like(table, key, columns), ...staged }
  const lots = [{ table, columns: own, from: table }]
  if (!children) return lots
  const listed = { ligne: 'bigint', ...like(table, key), ...like(children.table, children.columns) }
  return [...lots, { table: children.table, columns: listed, from: `${table}, ${children.table}` }]
}

/** Makes a lot: its columns are of a type, or of the type that a column of the portal has. */
export function createLot(db: Db, lot: Lot): Promise<number> {
  return db.exec(`create temporary table ${lotOf(lot.table)} as ${emptyLot(lot)}`)
}

/** A select of no rows with the columns of a lot. */
export function emptyLot({ columns, from }: Lot): string {
  const list = Object.entries(columns).map(([name, type]) =>
    type.includes('.') ? type : `cast(null as ${type}) as ${name}`,
  )
  return `select ${list.join(', ')} from ${from} where false`
}

/** Columns that are as those of a table. */
function like(table: string, ...names: (readonly string[])[]): Record<string, string> {
  return Object.fromEntries(names.flat().map((name) => [name, `${table}.${name}`]))
}
