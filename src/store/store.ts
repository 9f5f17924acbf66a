import type { Compilable, RawBuilder } from 'kysely'
import type { Changes, JournalEntry } from './changes.js'
import type { CachedNodes } from './nodes.js'
import type { Builder, Engine, Parameters, Statement } from './query.js'
import type { Reads } from './reads.js'

/** What was cached at a version stays current until the version of its kind moves. */
export interface Versions {
  donnees: number
  comptes: number
}

/** Queries inside one snapshot or one transaction. */
export interface Db {
  readonly engine: Engine
  readonly q: Builder
  readonly search: Search
  /** The nodes of counted orders that snapshots of the same version have read; undefined in a transaction, which may change them. */
  readonly nodes: CachedNodes | undefined
  /** What was read of a snapshot so far; undefined in a transaction. */
  readonly reads: Reads | undefined
  /** Every row, in the order of the query. */
  all<R>(query: Compilable<R>): Promise<R[]>
  all<P extends Parameters, R>(query: Statement<P, R>, given: P): Promise<R[]>
  /** The first row, or undefined. */
  get<R>(query: Compilable<R>): Promise<R | undefined>
  get<P extends Parameters, R>(query: Statement<P, R>, given: P): Promise<R | undefined>
  /** Runs a change and returns how many rows it touched. */
  run<P extends Parameters, R>(query: Compilable<R> | Statement<P, R>, given?: P): Promise<number>
  /** Runs written SQL, for what the builder cannot express, and returns how many rows it touched. A `?` stands for a value. */
  exec(sql: string, ...values: unknown[]): Promise<number>
  /** The rows of written SQL. */
  select<R>(sql: string, ...values: unknown[]): Promise<R[]>
  /** Inserts rows of values into the columns of a table, the fastest way that the engine has. */
  load(table: string, columns: readonly string[], rows: Iterable<readonly unknown[]>): Promise<void>
  /** Updates the planner's statistics after tables have changed much. */
  analyze(...tables: string[]): Promise<void>
  /** After inserts with explicit ids: makes later generated ids greater than all of them. */
  passIds(table: string, column: string): Promise<void>
}

/** Makes a temporary table from a select, unless this connection has it. Its rows are those of one transaction. */
export async function makeScratch(db: Db, table: string, select: string): Promise<void> {
  // Rows that were deleted would slow PostgreSQL down.
  const onCommit = db.engine === 'postgres' ? 'on commit delete rows' : ''
  await db.exec(`create temporary table if not exists ${table} ${onCommit} as ${select}`)
}

/** Runs changes in their order, without waiting for each answer before the next. */
export async function runInOrder(db: Db, changes: readonly Statement<Record<never, never>, never>[]): Promise<void> {
  await Promise.all(changes.map((change) => db.run(change)))
}

/** How an engine looks for a text inside texts. */
export interface Search {
  /** The shortest needle that an index answers, in code points; without an index, infinity. */
  readonly minIndexedCodePoints: number
  /** Whether a column contains a needle, row by row. */
  contains(column: RawBuilder<unknown>, needle: string): RawBuilder<boolean>
  /**
   * Whether the index leads to few rows, as 1 or 0; undefined where it is the best way in any case, which may follow from
   * whether nothing else is asked of the rows. An engine that plans this by itself has no such question.
   */
  isRare?(table: string, needles: Readonly<Record<string, string>>, isAlone: boolean): RawBuilder<number> | undefined
  /** The ids of the rows whose columns contain the needles, by the index: a table expression with one column, `id`. */
  matches(table: string, id: string, needles: Readonly<Record<string, string>>): RawBuilder<{ id: number }>
}

/**
 * What a transaction changed: the lines that it writes into the journal, and the credentials that it ended, by their SHA-256;
 * true where any may have changed. An empty list changes nothing and moves no version.
 */
export interface Change {
  donnees?: readonly JournalEntry[]
  comptes?: boolean | readonly string[]
}

/** What `comptes` of a change ended; undefined where nothing did. */
export function endedBy({ comptes = false }: Change): true | readonly string[] | undefined {
  return comptes === false || (comptes !== true && comptes.length === 0) ? undefined : comptes
}

/** What a writer keeps other writers out of. On SQLite there is one writer of anything at a time. */
export type Domain = 'donnees' | 'comptes'

export interface BulkOptions {
  /** Whether `merge` may touch accounts that stay: other writers of accounts are kept out meanwhile. */
  withAccounts: boolean
  /**
   * Changes the tables of the data and the settings, reads no other table but `etat`, and returns whether it changed any. A
   * store may run it on a private copy, and again if the data has changed meanwhile.
   */
  mergeData?: (db: Db) => Promise<boolean>
  /** Whether `mergeData` rewrites much of a portal, however little was staged. */
  rewritesAll?: boolean
  /** Called now and then with what the store itself is doing, and how much of it is done: tables, or for `fill` rows. */
  onStage?: OnStage
}

/** The work of a bulk in one transaction. */
export async function mergeAll<T extends { change: Change }>(
  db: Db,
  { mergeData, onStage }: BulkOptions,
  merge: (db: Db) => Promise<T>,
): Promise<{ value: T; change: Change }> {
  await mergeData?.(db)
  onStage?.('commit', 0, 1)
  const value = await merge(db)
  return { value, change: value.change }
}

/** A store may copy the data, fill new tables from the copy, and then commits. */
export type OnStage = (stage: 'copy' | 'fill' | 'commit', done: number, of: number) => void

export interface ReadOptions {
  /**
   * Which server may answer: only the primary, or any server that has the newest known data. The work may then run twice,
   * because a replica may fail.
   */
  source?: 'primary' | 'any'
  /**
   * Whether it may block the event loop for too long. A store that serves runs it outside the event loop, a few at once, and
   * throws `StoreError` `slow` if the queue is full or the read takes longer than 2 s in all.
   */
  isLong?: boolean
}

/** A portal's data, whatever engine holds it. Every method throws `StoreError` for what an operator can act on. */
export interface Store {
  readonly engine: Engine
  /** The versions now, whichever process made the last change. */
  versions(): Versions | Promise<Versions>
  /** What changed of the data and of the accounts, whichever process changed it. */
  readonly changes: Changes
  /** Runs reads in one snapshot: they see one version of the data, which `version` names. */
  read<T>(work: (db: Db, version: Versions) => Promise<T>, options?: ReadOptions): Promise<T>
  /**
   * Like `read`, for work that lasts because it waits for a client: on its own connection, outside the event loop. Its open
   * snapshot blocks the store's cleanup, so the caller must limit its duration.
   */
  stream<T>(work: (db: Db, version: Versions) => Promise<T>): Promise<T>
  /**
   * Runs one transaction and moves the versions with it, as `change` says when the work has ended. Waits at most 5 s for
   * another writer, then throws `StoreError` `busy`. The work must not wait for anything but the store.
   */
  write<T>(change: Change, work: (db: Db) => Promise<T>, domain?: Domain): Promise<T>
  /**
   * Runs `stage` with its own temporary tables and no lock that blocks readers or writers, then `mergeData` and `merge`, whose
   * changes become visible together or not at all. `merge` says which versions they move.
   */
  bulk<T extends { change: Change }>(
    options: BulkOptions,
    stage: (db: Db) => Promise<void>,
    merge: (db: Db) => Promise<T>,
  ): Promise<T>
  /** The figures that operators watch. */
  state(): StoreState
  /** Its size on the disk. */
  diskBytes(): Promise<number>
  /** Copies the whole store, consistent, into a new file. */
  backup(file: string): Promise<void>
  /** The faults that the engine finds in its files, indexes and references; empty if there are none. */
  verify(): Promise<string[]>
  /** Compares the search indexes with their tables; empty if they match. */
  verifySearch(): Promise<string[]>
  /** Rebuilds the search indexes. */
  rebuildSearch(): Promise<void>
  close(): Promise<void>
}

export interface StoreState {
  /** Snapshots that were read, by who answered. */
  reads: { primary: number; replica: number }
  /** Streams in flight. */
  streams: number
  /** Whether changes of other processes are received as they happen; otherwise each request asks. */
  isHearing: boolean
  replicas: { usable: number; known: number }
  /** Whether a thread of this process runs a statement. It ends by itself or with the process. */
  isThreadBusy: boolean
}

export type StoreFault =
  | 'missing'
  | 'denied'
  | 'busy'
  | 'slow'
  | 'readonly'
  | 'corrupt'
  | 'foreign'
  | 'newer'
  | 'older'
  | 'full'
  | 'unreachable'
  | 'unsupported'

/** Something is wrong with the store itself. The message is one line for the operator: what is wrong, what to do. */
export class StoreError extends Error {
  /** The message without the store's place, where that is known. */
  readonly reason: string

  constructor(
    readonly fault: StoreFault,
    message: string,
    options?: ErrorOptions & { reason?: string },
  ) {
    super(message, options)
    this.reason = options?.reason ?? message
    this.name = 'StoreError'
  }
}
