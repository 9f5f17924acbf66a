import { hash } from 'node:crypto'
import {
  type Compilable,
  type Dialect,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import { type Only, type OnlyRows, type Sources, sourcesOf } from './reads.js'
import type { Tables } from './tables.js'

export type Engine = 'sqlite' | 'postgres'
export type Builder = Kysely<Tables>
export type Parameters = Record<string, unknown>

/** A query written once and compiled once for each engine; `P` names its parameters, `R` is a row of its answer. */
export interface Statement<P extends Parameters, R> {
  readonly build: (q: Builder, p: P) => Compilable<R>
  readonly only: Only<P>
  readonly onlyRows: OnlyRows<R>
  readonly compiled: Partial<Record<Engine, CompiledStatement>>
}

export interface CompiledStatement {
  sql: string
  /** The name under which an engine may keep it prepared; a query that is built for each call has none. */
  name?: string
  /** Values in the order of the placeholders; a `Parameter` stands for what the caller gives. */
  values: readonly unknown[]
  /** What it reads; undefined where only its text says so. */
  sources?: Sources
}

/**
 * Declares a query whose shape never changes: kysely types it, and its cost at run time is the statement alone.
 * Inside `build` a parameter may be passed on, never computed with.
 *
 * What it shows depends on every record of the tables that its text names. `only` narrows that to the records that its
 * conditions leave, so that the answer stays cached longer.
 */
export function statement<P extends Parameters = Record<never, never>>(only: Only<P> = {}) {
  return <R>(build: (q: Builder, p: P) => Compilable<R>): Statement<P, R> => {
    return { build, only, onlyRows: {}, compiled: {} }
  }
}

/** The same statement, which depends on those records of some tables that its rows name. */
export function byRows<P extends Parameters, R>(target: Statement<P, R>, onlyRows: OnlyRows<R>): Statement<P, R> {
  return { ...target, onlyRows, compiled: {} }
}

/**
 * Builds the statement that reads a page from a key on, of the wanted rows and at most `ROWS_STEP` - 1 more. PostgreSQL replans
 * a statement on each call if the parameter values could improve its plan, which takes longer than reading a page. So the
 * number of rows is part of the text, and keys are `hidden`: the first plan is as good as any.
 */
export function forRows<S>(make: (rows: RawBuilder<number>) => S): (rows: number) => S {
  const made = new Map<number, S>()
  return (wanted) => {
    const rows = Math.ceil(wanted / ROWS_STEP) * ROWS_STEP
    const known = made.get(rows) ?? make(sql.lit(rows))
    made.set(rows, known)
    return known
  }
}

/** So pages of all sizes need about twenty statements. */
const ROWS_STEP = 32

/** A value that PostgreSQL's planner does not look at. SQLite never does, and would not find the index behind it. */
export function hidden<V extends number | string>(q: Builder, value: V, type = 'bigint'): RawBuilder<V> {
  return q === builders.postgres ? sql<V>`(select cast(${value} as ${sql.raw(type)}))` : sql<V>`${value}`
}

/** Rows of integers as the text of one parameter, which `rowsIn` reads. */
export function textOfRows(rows: readonly (readonly number[])[]): string {
  return JSON.stringify(rows)
}

/** Selects the rows in such a parameter, by names for their columns. So lists of all lengths are one prepared statement. */
export function rowsIn(q: Builder, text: string, names: readonly string[]): RawBuilder<unknown> {
  if (q === builders.postgres) {
    const columns = names.map((name, i) => sql`cast(value ->> ${sql.lit(i)} as bigint) as ${sql.ref(name)}`)
    return sql`select ${sql.join(columns)} from json_array_elements(cast(${text} as json))`
  }
  const columns = names.map((name, i) => sql`json_extract(value, ${sql.lit(`$[${i}]`)}) as ${sql.ref(name)}`)
  return sql`select ${sql.join(columns)} from json_each(${text})`
}

/** Declares a query of written SQL without parameters, in SQL that both engines know. */
export function fixed<R = never>(text: string): Statement<Record<never, never>, R> {
  return statement()((q) => ({ compile: () => sql.raw<R>(text).compile(q) }))
}

/** Declares a query of written SQL with parameters, where the builder would be longer. */
export function written<P extends Parameters, R>(
  text: (p: P, q: Builder) => RawBuilder<R>,
  only: Only<P> = {},
): Statement<P, R> {
  return statement<P>(only)((q, p) => ({ compile: () => text(p, q).compile(q) }))
}

export function compile<P extends Parameters, R>(target: Statement<P, R>, engine: Engine): CompiledStatement {
  const known = target.compiled[engine]
  if (known) return known
  const compiled = toCompiled(target.build(builders[engine], placeholders as P))
  const sources = sourcesOf(compiled.sql, target.only, target.onlyRows)
  const named = { ...compiled, name: hash('sha1', compiled.sql), sources }
  target.compiled[engine] = named
  return named
}

function toCompiled(query: Compilable<unknown>): CompiledStatement {
  const { sql, parameters } = query.compile()
  return { sql, values: parameters }
}

/** What a connection runs, of either form that `Db` takes. */
export function compiledOf(
  query: Compilable<unknown> | Statement<Parameters, unknown>,
  engine: Engine,
): CompiledStatement {
  return 'build' in query ? compile(query, engine) : toCompiled(query)
}

/** The values of a compiled statement with the caller's in their places. */
export function bind(compiled: CompiledStatement, given: Parameters): unknown[] {
  return compiled.values.map((value) => (value instanceof Parameter ? given[value.name] : value))
}

/** Build and compile queries; they never run them, so they hold no connection. */
export const builders: Readonly<Record<Engine, Builder>> = {
  sqlite: makeBuilder({
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }),
  postgres: makeBuilder({
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }),
}

function makeBuilder(dialect: Dialect): Builder {
  return new Kysely<Tables>({ dialect })
}

class Parameter {
  constructor(readonly name: string) {}

  [Symbol.toPrimitive](): never {
    throw new TypeError(`the parameter ${this.name} of a statement is not known while the statement is built`)
  }
}

const placeholders: unknown = new Proxy({}, { get: (_, name) => new Parameter(String(name)) })
