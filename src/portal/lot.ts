import type { Kind, Reference } from '../model/kind.js'
import type { Db } from '../store/store.js'

/** The temporary table that holds the lines about one table of the portal, until they are merged into it. */
export function lotOf(table: string): string {
  return `lot_${table}`
}

/** A condition: two aliases have the same record of a kind. */
export function sameKey({ key }: Pick<Kind, 'key'>, one: string, other: string): string {
  return key.map((column) => `${one}.${column} = ${other}.${column}`).join(' and ')
}

/** Columns of an alias as one value, which can be compared whole. */
export function tuple(columns: readonly string[], alias: string): string {
  return `(${columns.map((column) => `${alias}.${column}`).join(', ')})`
}

/** A lot to be made: its name without the prefix, its columns, and those tables whose columns they are like. */
export interface Lot {
  table: string
  columns: Record<string, string>
  from: string
}

/** The lots of a kind: one for its records, and one for the lists in them. */
export function lotsOf({ table, key, columns, staged, list }: Kind): Lot[] {
  const types = Object.entries(staged).map(([name, type]) => [name, type === 'integer' ? 'bigint' : type])
  const own = { ligne: 'bigint', supprime: 'bigint', ...like(table, key, columns), ...Object.fromEntries(types) }
  const lots = [{ table, columns: own, from: table }]
  if (!list) return lots
  const listed = { ligne: 'bigint', ...like(table, key), ...like(list.table, list.columns) }
  return [...lots, { table: list.table, columns: listed, from: `${table}, ${list.table}` }]
}

/** A column of a lot that names a record of another table, and the field of the line that it comes from. */
export interface StagedReference extends Reference {
  lot: string
  field: string
  /** The lot of a list has no column `supprime`. */
  isOfList: boolean
}

export function referencesIn({ table, references, list }: Kind): StagedReference[] {
  const listed = list?.references.filter(({ column }) => list.columns.includes(column)) ?? []
  return [
    ...references.map((each) => ({ ...each, lot: lotOf(table), field: each.column, isOfList: false })),
    ...listed.map((each) => ({ ...each, lot: lotOf(list!.table), field: list!.field, isOfList: true })),
  ]
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
