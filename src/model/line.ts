import type { Field, Fields, Kind } from './kind.js'
import { FieldError } from './readers.js'

/** What the staging tables take of a line. */
export interface RecordRow {
  row: unknown[]
  /** Makes the rows of the list in the line: thousands of small objects, which are not worth keeping. */
  children: () => unknown[][]
}

/** Reads a line, whole or some of its fields; the values of the others are null. Throws `FieldError` that names the field. */
export function readRecord(kind: Kind, line: unknown, isRead?: (name: string) => boolean): RecordRow {
  const all = Object.entries(kind.fields)
  const fields = isRead ? Object.fromEntries(all.filter(([name]) => isRead(name))) : kind.fields
  const values = readFields(fields, line)
  return { row: toRow(kind, values), children: () => listRows(kind, values) }
}

/** The key of a line, which is all that one needs that removes a record. Throws `FieldError` that names the field. */
export function readKey(kind: Kind, line: unknown): unknown[] {
  return readRecord(kind, line, (name) => kind.key.includes(name)).row.slice(0, kind.key.length)
}

/** The fields that a partial line does not name, each by its bit (see `bitOf`). */
export function absentIn(kind: Kind, line: Readonly<Record<string, unknown>>): number {
  const names = Object.keys(kind.fields).filter((name) => !kind.key.includes(name) && !Object.hasOwn(line, name))
  return names.reduce((bits, name) => bits | bitOf(kind, name), 0)
}

/** The bit that stands for a field of a kind. */
export function bitOf({ fields }: Kind, name: string): number {
  return 1 << Object.keys(fields).indexOf(name)
}

function toRow({ sources }: Kind, values: Readonly<Record<string, unknown>>): unknown[] {
  return sources.map(({ field, to }) => {
    const value = values[field]
    if (value === undefined) return null
    return to ? to(value as never) : value
  })
}

function listRows({ key, list }: Kind, values: Readonly<Record<string, unknown>>): unknown[][] {
  const items = list && (values[list.field] as unknown[] | undefined)
  if (!items) return []
  const own = key.map((name) => values[name])
  return items.map((item) => [...own, ...list.toRow(item)])
}

/** Reads the fields of an object. Throws `FieldError` that names the field, after `prefix`. */
export function readFields<F extends Fields>(
  fields: F,
  object: unknown,
  prefix = '',
): { [N in keyof F]: ReturnType<F[N]['read']> } {
  if (typeof object !== 'object' || object === null) throw new FieldError(`${prefix} must be an object`)
  const values: Record<string, unknown> = {}
  for (const name in fields) {
    try {
      values[name] = (fields[name] as Field).read((object as Record<string, unknown>)[name])
    } catch (error) {
      throw error instanceof FieldError ? new FieldError(`${prefix}${name} ${error.message}`) : error
    }
  }
  return values as { [N in keyof F]: ReturnType<F[N]['read']> }
}

/** Whether a line must name a field. */
export function isRequired(field: Field): boolean {
  try {
    field.read(undefined)
    return false
  } catch {
    return true
  }
}

/** A row as lines of the dump have it: fields in their order, without what is unknown. */
export function showFields(fields: Fields, row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  for (const name in fields) {
    const value = (fields[name] as Field).show(row[name])
    if (value !== null && value !== '') shown[name] = value
  }
  return shown
}

/** Columns of a row as flat tables have them: what is unknown is null. A name that is no field is taken as it is. */
export function showColumns(
  { fields }: Kind,
  columns: readonly string[],
  row: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    columns.map((name) => {
      const value = Object.hasOwn(fields, name) ? (fields[name] as Field).show(row[name]) : row[name]
      return [name, value === '' ? null : value]
    }),
  )
}
