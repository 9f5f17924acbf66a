import type { Compilable, RawBuilder } from 'kysely'
import type { HeldNodes } from './nodes.js'
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
  readonly search: Search
  /** How a temporary table is told to forget its rows at the end of a transaction, where deleted ones would stay in the way. */
  readonly onCommit: string
  /** The nodes of counted orders that snapshots of the same version have read; undefined in a transaction, which may change them. */
  readonly nodes: HeldNodes | undefined
  /** Every row, in the order of the query. */
  all<R>(query: Compilable<R>): Promise<R[]>
  all<P extends Parameters, R>(query: Statement<P, R>, given: P): Promise<R[]>
  /** The first row, or undefined. */
  get<R>(query: Compilable<R>): Promise<R | undefined>
  get<P extends Parameters, R>(query: Statement<P, R>, given: P): Promise<R | undefined>
  /** Runs a change and says how many rows it touched. */
  run<P extends Parameters, R>(query: Compilable<R> | Statement<P, R>, given?: P): Promise<number>
  /** Runs written SQL, for what the builder cannot say, and says how many rows it touched. A `?` stands for a value. */
  exec(sql: string, ...values: unknown[]): Promise<number>
  /** The rows of written SQL. */
  select<R>(sql: string, ...values: unknown[]): Promise<R[]>
  /** Inserts rows of values into the columns of a table, the fastest way that the engine has. */
  load(table: string, columns: readonly string[], rows: readonly unknown[][]): Promise<void>
  /** Tells the engine that tables have changed much, so that it plans for what they hold now. */
  analyze(...tables: string[]): Promise<void>
  /** After rows came with ids of their own: the ids that the store gives later pass them all. */
  passIds(table: string, column: string): Promise<void>
}

/** Makes a temporary table from a select, unless this connection has it. Its rows are those of one transaction. */
export async function makeScratch(db: Db, table: string, select: string): Promise<void> {
  await db.exec(`create temporary table if not exists ${table} ${db.onCommit} as ${select}`)
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
 * The journal says what changed of the data, in the order in which it was committed. A transaction writes its lines with its
 * change, under cursors that only grow; the version of the data is the cursor of the newest line. Whoever holds something
 * made from an older version reads what came since, and lets go of what that touches.
 */
export interface JournalEntry {
  /**
   * A record that was written or removed; `classement` for ranks that moved; `portail` for a change of anything, such as an
   * import.
   */
  type: 'validation' | 'challenge' | 'auteur' | 'rubrique' | 'classement' | 'portail'
  /** 1 where the record was removed. */
  supprime?: number
  id_auteur?: number | null
  id_challenge?: number | null
  id_rubrique?: number | null
  /** For `classement`: for each counted order that changed, between which keys. */
  rangs?: Ranges
}

/** By the name of an order: the first and the last key that changed, and whether its entries are as many as before. */
export type Ranges = Record<string, readonly [de: number, a: number, isSameCount: boolean]>

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
   * What changes the tables of the data, and reads no other but `etat`; it says whether it changed any. A store may run it
   * on a copy of them that nobody else sees, and again where the data have changed meanwhile.
   */
  mergeData?: (db: Db) => Promise<boolean>
  /** Called now and then with what the store itself is doing, and how much of it is done: tables, or for `fill` rows. */
  onStage?: OnStage
}

/** A store may copy the data, fill new tables from the copy, and then commits. */
export type OnStage = (stage: 'copy' | 'fill' | 'commit', done: number, of: number) => void

export interface ReadOptions {
  /**
   * Where it may be answered: by the one server that takes writes, or by any that holds what is known to be the newest
   * data. A work may then run twice, as a replica may fail.
   */
  source?: 'primary' | 'any'
  /**
   * Whether it may take longer than the event loop can be held. A store that serves runs it beside, few at once, and throws
   * `StoreError` `slow` where it finds no room or takes longer than 2 s in all.
   */
  isLong?: boolean
}

/** A portal's data, whatever engine holds it. Every method throws `StoreError` for what an operator can act on. */
export interface Store {
  readonly engine: Engine
  /** The versions now, whichever process made the last change. */
  versions(): Versions | Promise<Versions>
  /** Runs reads in one snapshot: they see one version of the data, which `version` names. */
  read<T>(work: (db: Db, version: Versions) => Promise<T>, options?: ReadOptions): Promise<T>
  /**
   * The same for a work that lasts, as it waits for a client: on a connection of its own, beside the event loop, so that
   * nobody waits for it. It keeps what it sees of the data from being tidied away: whoever begins it bounds it.
   */
  stream<T>(work: (db: Db, version: Versions) => Promise<T>): Promise<T>
  /**
   * Runs one transaction and makes its change of versions with it, as `change` is when the work has ended. Waits at most 5 s for another writer, then throws
   * `StoreError` `busy`. The work must not wait for anything but the store.
   */
  write<T>(change: Change, work: (db: Db) => Promise<T>, domain?: Domain): Promise<T>
  /**
   * Runs `stage` with temporary tables of its own and no lock that a reader or a writer waits for, then `mergeData` and
   * `merge`, whose changes are seen together or not at all. `merge` says which versions they move.
   */
  bulk<T extends { change: Change }>(
    options: BulkOptions,
    stage: (db: Db) => Promise<void>,
    merge: (db: Db) => Promise<T>,
  ): Promise<T>
  /** What an operator watches of it. */
  state(): StoreState
  /** What it takes on the disk. */
  diskBytes(): Promise<number>
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

export interface StoreState {
  /** Snapshots that were read, by who answered. */
  reads: { primary: number; replica: number }
  /** Snapshots that last, under way. */
  streams: number
  /** Whether changes of others are heard as they come; otherwise each request asks. */
  isHearing: boolean
  replicas: { usable: number; known: number }
  /** Whether a statement runs in a thread of this process, which ends in its own time or with the process. */
  isBusyBeside: boolean
}

/** Where a store says, once, that something beside it went away or came back. */
export interface StoreLog {
  info(message: string): void
  warn(message: string): void
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
