import type { Compilable } from 'kysely'
import type { CachedNodes } from './nodes.js'
import { type Builder, bind, builders, compiledOf, type Engine, type Parameters, type Statement } from './query.js'
import { type Reads, sourcesOfText } from './reads.js'
import type { Db, Search } from './store.js'

type Query = Compilable<unknown> | Statement<Parameters, unknown>
/** A connection of this thread answers at once. */
export type Here<T> = T | Promise<T>

/** `Db` over the few calls that differ between connections. It notes what is read. */
export abstract class EngineDb implements Db {
  abstract readonly engine: Engine
  abstract readonly search: Search
  /** Set for each snapshot. */
  nodes: CachedNodes | undefined
  reads: Reads | undefined

  /** Every row, as objects. A statement that has a name may stay prepared under it. */
  abstract rows(sql: string, values?: readonly unknown[], name?: string): Here<unknown[]>
  /** The first row, as an object. */
  abstract row(sql: string, values?: readonly unknown[], name?: string): Here<Record<string, unknown> | undefined>
  /** Returns how many rows it touched. */
  abstract change(sql: string, values?: readonly unknown[], name?: string): Here<number>
  abstract load(table: string, columns: readonly string[], rows: Iterable<readonly unknown[]>): Promise<void>
  abstract analyze(...tables: string[]): Promise<void>
  abstract passIds(table: string, column: string): Promise<void>

  get q(): Builder {
    return builders[this.engine]
  }

  async all(query: Query, given: Parameters = {}): Promise<never[]> {
    const compiled = compiledOf(query, this.engine)
    const rows = await this.rows(compiled.sql, bind(compiled, given), compiled.name)
    this.reads?.statement(compiled.sources ?? sourcesOfText(compiled.sql), given, rows)
    return rows as never[]
  }

  async get(query: Query, given: Parameters = {}): Promise<never> {
    const compiled = compiledOf(query, this.engine)
    const row = await this.row(compiled.sql, bind(compiled, given), compiled.name)
    this.reads?.statement(compiled.sources ?? sourcesOfText(compiled.sql), given, row ? [row] : [])
    return row as never
  }

  async run(query: Query, given: Parameters = {}): Promise<number> {
    const compiled = compiledOf(query, this.engine)
    return this.change(compiled.sql, bind(compiled, given), compiled.name)
  }

  async exec(sql: string, ...values: unknown[]): Promise<number> {
    return this.change(sql, values)
  }

  async select<R>(sql: string, ...values: unknown[]): Promise<R[]> {
    this.reads?.statement(sourcesOfText(sql), {}, [])
    return (await this.rows(sql, values)) as R[]
  }
}
