import {
  DATA_TABLES,
  type DataTable,
  type Dependencies,
  FOLLOWS,
  type NamedBy,
  type NamedTable,
  type RecordColumn,
  type Span,
} from './dependencies.js'
import { searchIndexOf } from './search-index.js'

/**
 * Which records of a table a statement reads: those that parameters name, by column. `{}`: none that the counted orders which
 * are read beside it do not cover.
 */
export type Only<P> = {
  readonly [T in DataTable]?: { readonly [C in T extends NamedTable ? NamedBy[T] : never]?: keyof P & string }
}

/** Of these tables it reads the records that its rows name, in these columns. */
export type OnlyRows<R> = { readonly [T in Exclude<NamedTable, 'validations'>]?: keyof R & NamedBy[T] }

/** For statements that read entries of a counted order: their caller notes which. */
export const COVERED = { auteurs: {}, challenges: {}, validations: {} } as const

/** What a statement reads, without the values of its parameters. */
export interface Sources {
  isEverything: boolean
  tables: readonly DataTable[]
  byParameter: readonly (readonly [column: RecordColumn, parameter: string])[]
  byRow: readonly (readonly [column: RecordColumn, name: string])[]
}

/** What was noted while one snapshot was read. */
export class Reads {
  private isEverything = false
  private readonly tables = new Set<DataTable>()
  private readonly ids = new Map<RecordColumn, Set<number>>()
  private readonly spans = new Map<string, Span[]>()

  /** Notes a statement that was run, with its parameters and its rows. */
  statement(sources: Sources, given: Readonly<Record<string, unknown>>, rows: readonly unknown[]): void {
    if (sources.isEverything) this.isEverything = true
    for (const table of sources.tables) this.tables.add(table)
    for (const [column, parameter] of sources.byParameter) this.records(column, [given[parameter] as number])
    for (const [column, name] of sources.byRow) {
      this.records(
        column,
        rows.map((row) => (row as Record<string, number>)[name] as number),
      )
    }
  }

  /** Notes records by their ids. */
  records(column: RecordColumn, ids: readonly number[]): void {
    const known = this.ids.get(column) ?? new Set()
    this.ids.set(column, known)
    for (const id of ids) known.add(id)
  }

  /** Notes how many entries a counted order has, and with two keys which lie between them. */
  order(arbre: string, ...span: Span | []): void {
    const [kind, number] = arbre.split('/')
    if (kind === 'validations') this.records('validations.id_challenge', [Number(number)])
    else if (isDataTable(arbre)) this.tables.add(arbre)
    else {
      const known = this.spans.get(arbre) ?? []
      this.spans.set(arbre, known)
      if (span.length > 0) known.push(span as Span)
    }
  }

  /** All that was noted. */
  dependencies(): Dependencies {
    const records = [...this.ids]
      .filter(([column]) => !this.tables.has(column.slice(0, column.indexOf('.')) as DataTable))
      .map(([column, ids]) => [column, [...ids]] as const)
    const orders = [...this.spans]
    const size =
      this.tables.size +
      records.reduce((sum, [, ids]) => sum + ids.length, 0) +
      orders.reduce((sum, [, spans]) => sum + 1 + spans.length, 0)
    return { isEverything: this.isEverything, tables: [...this.tables], records, orders, size }
  }
}

/** Texts of statements that are compiled for each call; when there are more, the cache is emptied. */
const MAX_TEXTS = 1_000
const texts = new Map<string, Sources>()

/** What a text without narrowing depends on; each text is read once. */
export function sourcesOfText(sql: string): Sources {
  const known = texts.get(sql)
  if (known) return known
  if (texts.size >= MAX_TEXTS) texts.clear()
  const sources = sourcesOf(sql, {}, {})
  texts.set(sql, sources)
  return sources
}

/**
 * What a statement depends on. Tables and columns are found as plain words of its text: a word too many makes it depend on
 * more than it reads, which costs hits of the cache alone.
 */
export function sourcesOf(sql: string, only: Only<never>, rows: OnlyRows<never>): Sources {
  const words = new Set(sql.toLowerCase().match(/\w+/g))
  const isEverything = namesAfter(SOURCE, sql).some((name) => !isKnown(name) && !namesAfter(PART, sql).includes(name))
  const readsAll = ALL_COLUMNS.test(sql)
  const found = new Set<DataTable>(DATA_TABLES.filter((table) => words.has(table) || words.has(searchIndexOf(table))))
  for (const [table, columns] of Object.entries(FOLLOWS)) {
    if (!words.has(table)) continue
    for (const [column, origins] of Object.entries(columns)) {
      if (column === '*' || readsAll || words.has(column)) for (const origin of origins) found.add(origin)
    }
  }
  const named = only as Readonly<Record<string, Readonly<Record<string, string>> | undefined>>
  const inRows = rows as Readonly<Record<string, string | undefined>>
  const tables = [...found]
  return {
    isEverything,
    tables: tables.filter((table) => !named[table] && !inRows[table]),
    byParameter: tables.flatMap((table) =>
      Object.entries(named[table] ?? {}).map(([column, name]) => [`${table}.${column}` as RecordColumn, name] as const),
    ),
    byRow: tables.flatMap((table) => {
      const name = inRows[table]
      return name ? [[`${table}.${name}` as RecordColumn, name] as const] : []
    }),
  }
}

/** What a text reads from. */
const SOURCE = /\b(?:from|join)\s+"?(\w+)/gi
/** What it defines itself: `with NAME as (…)`. */
const PART = /(\w+)"?\s*(?:\([^()]*\)\s*)?as\s+(?:materialized\s+)?\(/gi
/** `*` as a list of columns, not in `count(*)`. */
const ALL_COLUMNS = /(?:\bselect|,|\.)\s*\*/i

function isDataTable(name: string): name is DataTable {
  return (DATA_TABLES as readonly string[]).includes(name)
}

const SEARCH_INDEXES = new Set<string>(DATA_TABLES.map(searchIndexOf))

/** Whether it is a table whose changes the journal names, or its search index. */
function isKnown(name: string): boolean {
  return isDataTable(name) || SEARCH_INDEXES.has(name) || Object.hasOwn(FOLLOWS, name)
}

function namesAfter(pattern: RegExp, sql: string): string[] {
  return [...sql.toLowerCase().matchAll(pattern)].map(([, name = '']) => name)
}
