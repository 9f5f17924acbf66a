import { type Compilable, DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { Tables } from './tables.js'

export type Engine = 'sqlite'
export type Builder = Kysely<Tables>
export type Parameters = Record<string, unknown>

/** A query written once and compiled once for each engine; `P` names its parameters, `R` is a row of its answer. */
export interface Statement<P extends Parameters, R> {
  readonly build: (q: Builder, p: P) => Compilable<R>
  compiled?: CompiledStatement
}

export interface CompiledStatement {
  sql: string
  /** Values in the order of the placeholders; a `Parameter` stands for what the caller gives. */
  values: readonly unknown[]
}

/**
 * Declares a query whose shape never changes: kysely types it, and its cost at run time is the statement alone.
 * Inside `build` a parameter may be passed on, never computed with.
 */
export function statement<P extends Parameters = Record<never, never>>() {
  return <R>(build: (q: Builder, p: P) => Compilable<R>): Statement<P, R> => ({ build })
}

export function compile<P extends Parameters, R>(target: Statement<P, R>): CompiledStatement {
  target.compiled ??= toCompiled(target.build(builder, placeholders as P))
  return target.compiled
}

export function toCompiled(query: Compilable<unknown>): CompiledStatement {
  const { sql, parameters } = query.compile()
  return { sql, values: parameters }
}

/** The values of a compiled statement with the caller's in their places. */
export function bind(compiled: CompiledStatement, given: Parameters): unknown[] {
  return compiled.values.map((value) => (value instanceof Parameter ? given[value.name] : value))
}

/** Builds and compiles queries; it never runs them, so it holds no connection. */
export const builder: Builder = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
})

class Parameter {
  constructor(readonly name: string) {}

  [Symbol.toPrimitive](): never {
    throw new TypeError(`the parameter ${this.name} of a statement is not known while the statement is built`)
  }
}

const placeholders: unknown = new Proxy({}, { get: (_, name) => new Parameter(String(name)) })
