import * as field from './fields.js'

/**
 * One kind of line of the dump: how a line is read, and where its record lives. The importer works from these
 * descriptions alone, so a kind is added here and nowhere else.
 */
export interface RecordKind {
  type: string
  table: string
  /** The columns that identify a record, named as the fields are. */
  key: readonly string[]
  /** The other columns of a record. */
  columns: readonly string[]
  /** Columns that the staging table has beside them, for the merge to read, and what they hold. */
  staged: Readonly<Record<string, 'text' | 'bigint'>>
  fields: Fields
  /** Where each value of a row comes from: the key, the columns and the staged columns, in that order. */
  sources: readonly Source[]
  /** Columns that name a record of another table by the same column. */
  references: readonly { column: string; table: string }[]
  /** Records of another table that a line holds as a list, in `field`; its rows begin with the key. */
  children?: { field: string; table: string; columns: readonly string[]; toRows: (line: never) => unknown[][] }
}

/** The field that a column is filled from, and how; as it is without `to`. */
interface Source {
  field: string
  to?: ((value: never) => unknown) | undefined
}

type Fields = Readonly<Record<string, field.Field<unknown>>>
/** What the fields of a line are read as. */
export type Read<F> = { [K in keyof F]: F[K] extends field.Field<infer T> ? T : never }
/** A column that holds a field as it is, or what a function makes of it. */
type Column<F> = { [K in keyof F]: K | readonly [field: K, to: (value: Read<F>[K]) => unknown] }[keyof F]

interface RecordKindInit<F extends Fields> extends Pick<RecordKind, 'type' | 'table' | 'references'> {
  key: readonly (keyof F & string)[]
  columns: Readonly<Record<string, Column<F>>>
  staged?: Readonly<Record<string, readonly [type: 'text' | 'bigint', from: Column<F>]>>
  children?: {
    field: keyof F & string
    table: string
    columns: readonly string[]
    toRows: (line: Read<F>) => unknown[][]
  }
}

/** Describes a kind: its fields, and which columns they fill. */
export function recordKind<F extends Fields>(
  fields: F,
  { key, columns, staged = {}, ...init }: RecordKindInit<F>,
): RecordKind {
  const from = [...key, ...Object.values(columns), ...Object.values(staged).map(([, each]) => each)]
  return {
    ...{ ...init, fields, key },
    columns: Object.keys(columns),
    staged: Object.fromEntries(Object.entries(staged).map(([name, [type]]) => [name, type])),
    sources: from.map((each) => (Array.isArray(each) ? { field: each[0], to: each[1] } : { field: each as string })),
  }
}

/** What a line that removes a record says of it. Throws `FieldError` that names the field. */
export function readKey(kind: RecordKind, line: unknown): unknown[] {
  const fields = Object.fromEntries(kind.key.map((name) => [name, kind.fields[name] as field.Field<unknown>]))
  return Object.values(readFields(fields, line))
}

/** What the staging table takes of a line, and the rows of the list in it. */
export interface RecordRow {
  row: unknown[]
  /** Makes the rows of the list: thousands of small objects, which are not worth keeping. */
  children: () => unknown[][]
}

/** Reads a whole line. Throws `FieldError` that names the field. */
export function readRecord(kind: RecordKind, line: unknown): RecordRow {
  const values = readFields(kind.fields, line) as never
  return { row: toRow(kind, values), children: () => kind.children?.toRows(values) ?? [] }
}

/**
 * Reads a line that names some fields of a record; the values of the others are null, and their bits are set in `absents`
 * (see `bitOf`). Throws `FieldError` that names the field.
 */
export function readPartial(kind: RecordKind, line: Record<string, unknown>): RecordRow & { absents: number } {
  const isNamed = (name: string) => kind.key.includes(name) || Object.hasOwn(line, name)
  const names = Object.keys(kind.fields)
  const named = Object.fromEntries(Object.entries(kind.fields).filter(([name]) => isNamed(name)))
  const values = readFields(named, line) as never
  const list = kind.children && isNamed(kind.children.field) ? kind.children : undefined
  return {
    row: toRow(kind, values),
    children: () => list?.toRows(values) ?? [],
    absents: names.reduce((bits, name) => (isNamed(name) ? bits : bits | bitOf(kind, name)), 0),
  }
}

/** The bit that stands for a field of a kind. */
export function bitOf({ fields }: RecordKind, name: string): number {
  return 1 << Object.keys(fields).indexOf(name)
}

function toRow({ sources }: RecordKind, values: Readonly<Record<string, never>>): unknown[] {
  return sources.map(({ field, to }) => {
    const value = values[field]
    if (value === undefined) return null
    return to ? to(value) : value
  })
}

export function readFields<F extends Fields>(fields: F, object: unknown, prefix = ''): Read<F> {
  if (typeof object !== 'object' || object === null) throw new field.FieldError(`${prefix} must be an object`)
  const values: Record<string, unknown> = {}
  for (const name in fields) {
    try {
      values[name] = (fields[name] as field.Field<unknown>)((object as Record<string, unknown>)[name])
    } catch (error) {
      throw error instanceof field.FieldError ? new field.FieldError(`${prefix}${name} ${error.message}`) : error
    }
  }
  return values as Read<F>
}
