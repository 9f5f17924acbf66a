import type { Compilable } from 'kysely'
import type { HeldNodes } from '../nodes.js'
import { bind, builders, compiledOf, type Parameters, type Statement } from '../query.js'
import { type Reads, sourcesOfText } from '../reads.js'
import type { Db } from '../store.js'
import { search } from './search.js'

type Query = Compilable<unknown> | Statement<Parameters, unknown>
type Here<T> = T | Promise<T>

/** `Db` in SQLite's words, over the few calls that differ between a connection of this thread and one of another. */
export abstract class SqliteDb implements Db {
  readonly engine = 'sqlite'
  readonly q = builders.sqlite
  readonly search = search
  readonly onCommit = ''
  /** Set for each snapshot. */
  nodes: HeldNodes | undefined
  reads: Reads | undefined

  /** Every row, as objects. */
  abstract rows(sql: string, ...values: unknown[]): Here<unknown[]>
  /** The first row, as an object. */
  abstract row(sql: string, ...values: unknown[]): Here<Record<string, unknown> | undefined>
  /** Says how many rows it touched. */
  abstract change(sql: string, ...values: unknown[]): Here<number>
  abstract load(table: string, columns: readonly string[], rows: readonly unknown[][]): Promise<void>
  /** Takes back a transaction, where there is one. */
  abstract rollback(): Here<void>
  abstract close(): Here<void>

  async all(query: Query, given: Parameters = {}): Promise<never[]> {
    const compiled = compiledOf(query, 'sqlite')
    const rows = await this.rows(compiled.sql, ...bind(compiled, given))
    this.reads?.statement(compiled.sources ?? sourcesOfText(compiled.sql), given, rows)
    return rows as never[]
  }

  async get(query: Query, given: Parameters = {}): Promise<never> {
    const compiled = compiledOf(query, 'sqlite')
    const row = await this.row(compiled.sql, ...bind(compiled, given))
    this.reads?.statement(compiled.sources ?? sourcesOfText(compiled.sql), given, row ? [row] : [])
    return row as never
  }

  async run(query: Query, given: Parameters = {}): Promise<number> {
    const compiled = compiledOf(query, 'sqlite')
    return this.change(compiled.sql, ...bind(compiled, given))
  }

  async exec(sql: string, ...values: unknown[]): Promise<number> {
    return this.change(sql, ...values)
  }

  async select<R>(sql: string, ...values: unknown[]): Promise<R[]> {
    this.reads?.statement(sourcesOfText(sql), {}, [])
    return (await this.rows(sql, ...values)) as R[]
  }

  /** Nothing to do: SQLite plans our joins by their indexes. */
  async analyze(): Promise<void> {}

  /** Nothing to do: `autoincrement` passes every id that was ever inserted. */
  async passIds(): Promise<void> {}
}
