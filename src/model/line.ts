import type { Field, Fields, Kind } from './kind.js'
import { FieldError } from './readers.js'

/** What the staging tables take of a line. */
export interface RecordRow {
  row: unknown[]
  /** Makes the rows of the list in the line: thousands of small objects, which are not worth keeping. */
  children: () => unknown[][]
}

/** The key of a line: all that one needs that removes a record. Throws `FieldError` that names the field. */
export function readKey(kind: Kind, line: unknown): unknown[] {
  const fields = Object.fromEntries(kind.key.map((name) => [name, kind.fields[name] as Field]))
  return Object.values(readFields(fields, line))
}

/** Reads a whole line. Throws `FieldError` that names the field. */
export function readRecord(kind: Kind, line: unknown): RecordRow {
  const values = readFields(kind.fields, line)
  return { row: toRow(kind, values), children: () => listRows(kind, values) }
}

/**
 * Reads a line that names some fields of a record; the values of the others are null, and their bits are set in `absents`
 * (see `bitOf`). Throws `FieldError` that names the field.
 */
export function readPartial(kind: Kind, line: Record<string, unknown>): RecordRow & { absents: number } {
  const isNamed = (name: string) => kind.key.includes(name) || Object.hasOwn(line, name)
  const names = Object.keys(kind.fields)
  const values = readFields(Object.fromEntries(Object.entries(kind.fields).filter(([name]) => isNamed(name))), line)
  return {
    row: toRow(kind, values),
    children: () => listRows(kind, values),
    absents: names.reduce((bits, name) => (isNamed(name) ? bits : bits | bitOf(kind, name)), 0),
  }
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
