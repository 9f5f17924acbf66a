import type { Compilable } from 'kysely'
import type { Builder, Engine, Parameters, Statement } from './query.js'

/** What a reader may still hold: it is right as long as the version of its kind is. */
export interface Versions {
  donnees: number
  comptes: number
}

/** Queries inside one snapshot or one transaction. */
export interface Db {
  readonly engine: Engine
  readonly q: Builder
  /** Every row, in the order of the query. */
  all<R>(query: Compilable<R>): Promise<R[]>
  all<P extends Parameters, R>(query: Statement<P, R>, given: P): Promise<R[]>
  /** The first row, or undefined. */
  get<R>(query: Compilable<R>): Promise<R | undefined>
  get<P extends Parameters, R>(query: Statement<P, R>, given: P): Promise<R | undefined>
  /** Runs a change and says how many rows it touched. */
  run<P extends Parameters, R>(query: Compilable<R> | Statement<P, R>, given?: P): Promise<number>
  /** Runs written SQL, for what the builder cannot say, and says how many rows it touched. */
  exec(sql: string, ...values: unknown[]): Promise<number>
  /** The rows of written SQL. */
  select<R>(sql: string, ...values: unknown[]): Promise<R[]>
  /** Inserts rows of values into the columns of a table, the fastest way that the engine has. */
  load(table: string, columns: readonly string[], rows: readonly unknown[][]): Promise<void>
}

export interface Change {
  donnees?: boolean
  comptes?: boolean
}

/** A portal's data, whatever engine holds it. Every method throws `StoreError` for what an operator can act on. */
export interface Store {
  readonly engine: Engine
  /** The versions now, whichever process made the last change. */
  versions(): Versions | Promise<Versions>
  /** Runs reads in one snapshot: they see one version of the data, which `version` names. */
  read<T>(work: (db: Db, version: Versions) => Promise<T>): Promise<T>
  /**
   * Runs one transaction and makes its change of versions with it, as `change` is when the work has ended. Waits at most 5 s for another writer, then throws
   * `StoreError` `busy`. The work must not wait for anything but the store.
   */
  write<T>(change: Change, work: (db: Db) => Promise<T>): Promise<T>
  /**
   * Runs `stage` with temporary tables of its own and no lock that a reader or a writer waits for, then `merge` in one
   * transaction. `merge` says which versions its changes move.
   */
  bulk<T extends { change: Change }>(stage: (db: Db) => Promise<void>, merge: (db: Db) => Promise<T>): Promise<T>
  /** Copies the whole store, consistent, into a new file. */
  backup(file: string): Promise<void>
  /** What the engine itself finds wrong with its files, indexes and references; empty when all is well. */
  verify(): Promise<string[]>
  /** Compares the search indexes with their tables; empty when all is well. */
  verifySearch(): Promise<string[]>
  /** Makes the search indexes anew. */
  rebuildSearch(): Promise<void>
  close(): Promise<void>
}

export type StoreFault =
  | 'missing'
  | 'busy'
  | 'readonly'
  | 'corrupt'
  | 'foreign'
  | 'newer'
  | 'older'
  | 'full'
  | 'unreachable'

/** Something is wrong with the store itself. The message is one line for the operator: what is wrong, what to do. */
export class StoreError extends Error {
  constructor(
    readonly fault: StoreFault,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = 'StoreError'
  }
}
