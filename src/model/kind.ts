import { formatInstant } from '../instant.js'
import { fold, lowerAscii } from '../text.js'
import type { Read } from './readers.js'

/** A column of a table, on either engine; `V` is the type of its values. */
export interface Column<V = unknown> {
  type: 'text' | 'integer'
  isNullable: boolean
  /** Never set: it carries the type. */
  value?: V
}

/** A field of a dump line. Unless it is `stagedAs` or a `list`, the table keeps it in a column of the same name. */
export interface Field<V = unknown> extends Column<V> {
  /** From the value in a line to the value of the column. Throws `FieldError`. */
  read(value: unknown): V
  /** From the value of the column to the value in a line; null or `''` is unknown, and left out of a line. */
  show(value: V): unknown
  /** The JSON type in lines and in details of the API; undefined where these do not have it so. */
  wire?: 'text' | 'integer' | undefined
  /** More columns, which follow from the value. */
  twins?: Readonly<Record<string, Twin<V>>>
  /** The table whose key it names, in a column of the same name. */
  refersTo?: string
  /** The column of the staging table that holds it for the merge; the table of the kind has none. */
  stagedAs?: string
  list?: List
}

interface Twin<V> extends Column {
  of(value: V): unknown
  isSearched?: boolean
}

/** Rows of another table that a line holds as an array. They begin with the key of the line. */
interface List<I = unknown> {
  table: string
  columns: readonly string[]
  toRow(item: I): unknown[]
  /** The columns that name a row of another table. */
  references: readonly Reference[]
}

export interface Reference {
  column: string
  parent: string
}

export type Fields = Readonly<Record<string, Field>>
type Columns = Readonly<Record<string, Column>>

const TEXT: Column<string> = { type: 'text', isNullable: false }
export const INTEGER: Column<number> = { type: 'integer', isNullable: false }
export const INTEGER_OR_NULL: Column<number | null> = { type: 'integer', isNullable: true }

export function text(read: Read<string>): Field<string> {
  return { ...TEXT, wire: 'text', read, show: (value) => value }
}

export function integer(read: Read<number>): Field<number> {
  return { ...INTEGER, wire: 'integer', read, show: (value) => value }
}

/** Seconds since 1970; a date and time in lines. */
export function instant(read: Read<number>): Field<number> {
  return { ...INTEGER, wire: 'text', read, show: formatInstant }
}

/** 0 or 1; false or true in lines. */
export function flag(read: Read<number>): Field<number> {
  return { ...INTEGER, read, show: (value) => value === 1 }
}

/** A field that may be unknown: absent and null are the same. */
export function orNull<V>({ read, show, ...field }: Field<V>): Field<V | null> {
  return {
    ...(field as Omit<Column, 'value'>),
    isNullable: true,
    read: (value) => (value === undefined || value === null ? null : read(value)),
    show: (value) => (value === null ? null : show(value)),
  }
}

/** Text as search compares it. By convention its column ends in `_plie`. */
export const folded = { ...TEXT, of: fold, isSearched: true }
/** Text as equality compares it. By convention its column ends in `_cle`. */
export const lowered = { ...TEXT, of: lowerAscii }

/** A field with further columns. It is a function of its own: an optional parameter would lose the names of the columns. */
export function twinned<V, T extends Readonly<Record<string, Twin<V>>>>(field: Field<V>, twins: T) {
  return { ...field, twins }
}

/** The id of a record of another kind. */
export function refersTo<V>(table: string, field: Field<V>): Field<V> {
  return { ...field, refersTo: table }
}

/** A field that only the merge reads. */
export function staged<V>(stagedAs: string, field: Field<V>) {
  return { ...field, stagedAs }
}

export function list<I>(read: Read<I[]>, rows: List<I>) {
  return { type: 'text', isNullable: false, read, show: (value: I[]) => value, list: rows } as const
}

/** A kind of record: one type of line in the dump, and the table that keeps it. */
export interface Kind {
  type: string
  /** One such record in English, for people. */
  label: string
  table: string
  /** The fields that identify a record; its first columns wherever it is staged. */
  key: readonly string[]
  /** In the order of a dump line. */
  fields: Fields
  /** Columns that no line fills. */
  own: Columns
  /** The columns that lines fill, without the key. */
  columns: readonly string[]
  /** Columns of the staging table stagedOnly these. */
  staged: Readonly<Record<string, 'text' | 'integer'>>
  /** Where the values of a staged row come from: the key, the columns, the staged columns. */
  sources: readonly Source[]
  references: readonly Reference[]
  searched: readonly string[]
  list?: List & { field: string }
  /** The columns of its flat table, where exports have one. New ones come last. */
  flat?: readonly string[]
  /** Whether the API has a paged list of it and a detail; then it has a counted order, and a mirror reads both. */
  isListed: boolean
  /** Whether single lines change it while the portal is served; `portal/live/rules.ts` says how. */
  isLive: boolean
  /** Whether its records may be so long that few are read at a time. */
  isLong: boolean
  /** Whether it is part of the accounts, which dumps carry only on request. */
  isAccount: boolean
}

interface Source {
  field: string
  to?: (value: never) => unknown
}

interface Description
  extends Pick<Kind, 'type' | 'label' | 'table' | 'key' | 'fields'>,
    Partial<Pick<Kind, 'own' | 'flat' | 'isListed' | 'isLive' | 'isLong' | 'isAccount'>> {}

type Described<D extends Description> = Omit<Kind, keyof D | 'own'> &
  D & { own: D extends { own: infer O } ? O : Record<never, never> }

export function kind<const D extends Description>(description: D): Described<D> {
  const { key, fields, own = {} } = description
  const all = Object.entries<Field>(fields)
  const kept = all.filter(([, field]) => !field.stagedAs && !field.list)
  const filled = kept.flatMap(([name, { twins = {} }]) => [
    ...(key.includes(name) ? [] : [{ column: name, source: { field: name } }]),
    ...Object.entries(twins).map(([column, { of }]) => ({ column, source: { field: name, to: of } })),
  ])
  const stagedOnly = all.filter(([, field]) => field.stagedAs || field.list)
  const [listed] = all.flatMap(([field, { list }]) => (list ? [{ ...list, field }] : []))
  const made: Kind = {
    ...{ own, isListed: false, isLive: false, isLong: false, isAccount: false },
    ...description,
    columns: filled.map(({ column }) => column),
    staged: Object.fromEntries(stagedOnly.map(([name, { stagedAs = name, type }]) => [stagedAs, type])),
    sources: [
      ...key.map((field) => ({ field })),
      ...filled.map(({ source }) => source),
      ...stagedOnly.map(([field, { list }]) =>
        list ? { field, to: (items: unknown) => JSON.stringify(items) } : { field },
      ),
    ],
    references: kept.flatMap(([column, { refersTo }]) => (refersTo ? [{ column, parent: refersTo }] : [])),
    searched: kept.flatMap(([, { twins = {} }]) => Object.keys(twins).filter((column) => twins[column]?.isSearched)),
    ...(listed && { list: listed }),
  }
  return made as Kind & Described<D>
}

/** Every column of the table of a kind. */
export function columnsOf({ fields, own }: Kind): Record<string, Column> {
  const kept = Object.entries(fields).filter(([, field]) => !field.stagedAs && !field.list)
  return {
    ...Object.fromEntries(kept.flatMap(([name, field]) => [[name, field], ...Object.entries(field.twins ?? {})])),
    ...own,
  }
}

type ValueOf<C> = C extends Column<infer V> ? V : never
type Values<C> = { -readonly [N in keyof C]: ValueOf<C[N]> }
type Kept<F> = { [N in keyof F as F[N] extends { stagedAs: string } | { list: object } ? never : N]: F[N] }
type TwinsOf<F> = { [N in keyof F]: F[N] extends { twins: infer T } ? Values<T> : never }[keyof F]
type Intersection<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void ? I : never
type Flat<R> = { [C in keyof R]: R[C] }

/** A row of the table of a kind. */
export type Row<K extends Pick<Kind, 'fields' | 'own'>> = Flat<
  Values<Kept<K['fields']>> & Intersection<TwinsOf<K['fields']>> & Values<K['own']>
>
