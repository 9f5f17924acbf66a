import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs'
import { SEARCHED_KINDS } from '../../model/kinds.js'
import { Semaphore } from '../../semaphore.js'
import { changesOf } from '../follower.js'
import { EVERYTHING } from '../journal.js'
import { LONG_READS_QUEUE, withinBudget } from '../long-reads.js'
import { NodesByVersion } from '../nodes.js'
import { Pool, storeIsClosed } from '../pool.js'
import { Reads } from '../reads.js'
import { findBrokenReferences } from '../references.js'
import { searchIndexOf } from '../search-index.js'
import {
  type BulkOptions,
  type Change,
  type Db,
  type ReadOptions,
  type Store,
  StoreError,
  type StoreState,
  type Versions,
} from '../store.js'
import { bulk } from './bulk.js'
import { type Connection, openReader, openWriter } from './connection.js'
import type { SqliteDb } from './db.js'
import { LastingThread, type Thread } from './thread.js'
import type { ThreadKind } from './thread-entry.js'
import { transaction, WRITER_PATIENCE_MILLISECONDS } from './transaction.js'

/** Snapshots open at once. One is enough while no read waits for anything but the store. */
const MAX_READERS = 8
/** Threads for long reads, so that a slow one does not block a second. */
const MAX_READING_THREADS = 2
/** Threads for streams; each endpoint has a lower limit of its own. */
const MAX_STREAMING_THREADS = 8

/** An eager follower looks whether another connection has committed so often; a look takes some 5 µs. */
const WATCH_MILLISECONDS = 50

const SEARCH_TABLES = SEARCHED_KINDS.map(({ table }) => searchIndexOf(table))
const SELECT_VERSIONS = 'select version_donnees as donnees, version_comptes as comptes from etat'

/**
 * A portal in one SQLite file, in WAL mode: readers never wait for a writer. Each snapshot has a connection of its own,
 * all writes of this process share one, and any number of processes may use the file. A store that serves keeps only what
 * is short on the event loop: writes have a thread of their own, long reads two.
 */
export class SqliteStore implements Store {
  readonly engine = 'sqlite'
  readonly changes = changesOf(this)
  private readonly readers: Pool<Connection>
  private readonly longReads: Pool<LastingThread>
  private readonly writer: { current(): SqliteDb; close(): unknown }
  private readonly writing = new Semaphore({ permits: 1, closed: storeIsClosed })
  /** Never inside a transaction: its `data_version` moves whenever any other connection commits. */
  private readonly watcher: Connection
  private readonly nodes = new NodesByVersion()
  private readonly threads: LastingThread[] = []
  private readonly streaming: Pool<LastingThread>
  private reads = 0
  private seen: { dataVersion: unknown; versions: Versions } | undefined

  /** Takes a file that exists and has this program's schema. */
  constructor(
    readonly path: string,
    private readonly isServing: boolean,
  ) {
    const open = () => openReader(path)
    const threads = { make: () => this.thread('reader'), dispose: (thread: LastingThread) => thread.close() }
    this.readers = new Pool({ make: open, dispose: (reader) => reader.close(), max: MAX_READERS })
    this.longReads = new Pool({ ...threads, ...LONG_READS_QUEUE, max: MAX_READING_THREADS })
    this.streaming = new Pool({ ...threads, max: MAX_STREAMING_THREADS })
    this.watcher = open()
    this.writer = isServing ? this.thread('writer') : lasting(openWriter(path))
  }

  private thread(kind: ThreadKind): LastingThread {
    const thread = new LastingThread(this.path, kind)
    this.threads.push(thread)
    return thread
  }

  versions(): Versions {
    const dataVersion = this.watcher.value('pragma data_version')
    if (this.seen?.dataVersion !== dataVersion) {
      this.seen = { dataVersion, versions: this.watcher.row(SELECT_VERSIONS) as unknown as Versions }
    }
    return this.seen!.versions
  }

  watch(moved: () => void): () => void {
    const timer = setInterval(moved, WATCH_MILLISECONDS).unref()
    return () => clearInterval(timer)
  }

  async read<T>(work: (db: Db, version: Versions) => Promise<T>, { isLong }: ReadOptions = {}): Promise<T> {
    this.reads++
    if (isLong && this.isServing) {
      return withinBudget((deadline) =>
        this.longReads.use((thread) => readBeside(thread.current(), deadline.at, work), deadline),
      )
    }
    return this.readers.use(async (reader) => {
      reader.change('begin')
      try {
        const versions = reader.row(SELECT_VERSIONS) as unknown as Versions
        reader.nodes = this.nodes.of(versions.donnees)
        reader.reads = new Reads()
        return await work(reader, versions)
      } finally {
        reader.rollback()
      }
    })
  }

  stream<T>(work: (db: Db, version: Versions) => Promise<T>): Promise<T> {
    this.reads++
    return this.streaming.use((thread) => readBeside(thread.current(), Number.POSITIVE_INFINITY, work))
  }

  async write<T>(change: Change, work: (db: Db) => Promise<T>): Promise<T> {
    const deadline = { at: Date.now() + WRITER_PATIENCE_MILLISECONDS, late: () => this.tooBusy() }
    return this.writing.run(() => {
      const writer = this.writer.current()
      return transaction(writer, async () => ({ value: await work(writer), change }), deadline.at)
    }, deadline)
  }

  private tooBusy(): StoreError {
    return new StoreError(
      'busy',
      `${this.path}: another write of this process takes long; try again when it has finished`,
    )
  }

  async bulk<T extends { change: Change }>(
    options: BulkOptions,
    stage: (db: Db) => Promise<void>,
    merge: (db: Db) => Promise<T>,
  ): Promise<T> {
    return bulk(this.path, options, stage, merge)
  }

  state(): StoreState {
    const isThreadBusy = this.threads.some((thread) => thread.isBusy)
    return {
      reads: { primary: this.reads, replica: 0 },
      streams: this.streaming.count,
      isHearing: true,
      replicas: { usable: 0, known: 0 },
      isThreadBusy,
    }
  }

  async diskBytes(): Promise<number> {
    return this.readers.use(async (reader) => {
      const [size] = reader.rows('select page_count * page_size as bytes from pragma_page_count, pragma_page_size')
      return (size as { bytes: number }).bytes
    })
  }

  async backup(file: string): Promise<void> {
    if (existsSync(file)) throw new StoreError('unreachable', `${file}: the file exists; give a new name`)
    const unfinished = `${file}.${process.pid}.unfinished`
    try {
      closeSync(openSync(unfinished, 'wx', 0o600))
      await this.readers.use(async (reader) => reader.change('vacuum into ?', [unfinished]))
      renameSync(unfinished, file)
    } catch (error) {
      rmSync(unfinished, { force: true })
      if (error instanceof StoreError || !isSystemError(error)) throw error
      throw new StoreError('unreachable', `${file}: cannot write the copy (${error.code})`, { cause: error })
    }
  }

  async verify(): Promise<string[]> {
    return this.readers.use(async (reader) => {
      const found = reader.rows('select integrity_check as line from pragma_integrity_check limit 20') as {
        line: string
      }[]
      if (found[0]?.line !== 'ok') return found.map((row) => row.line)
      return findBrokenReferences(reader)
    })
  }

  async verifySearch(): Promise<string[]> {
    const faults: string[] = []
    for (const table of SEARCH_TABLES) {
      await this.write({}, async (db) => {
        try {
          await db.exec(`insert into ${table} (${table}, rank) values ('integrity-check', 1)`)
        } catch (error) {
          if (!(error instanceof StoreError) || error.fault !== 'corrupt') throw error
          faults.push(`the index ${table}`)
        }
      })
    }
    return faults
  }

  async rebuildSearch(): Promise<void> {
    await this.write({ donnees: EVERYTHING }, async (db) => {
      for (const table of SEARCH_TABLES) await db.exec(`insert into ${table} (${table}) values ('rebuild')`)
    })
  }

  async close(): Promise<void> {
    await this.writing.close()
    await this.writer.close()
    await this.longReads.close()
    await this.streaming.close()
    await this.readers.close()
    this.watcher.close()
  }
}

/** A snapshot of a thread. What is under way when its time is up ends by itself, and the thread with it for the next. */
async function readBeside<T>(
  thread: Thread,
  deadline: number,
  work: (db: Db, version: Versions) => Promise<T>,
): Promise<T> {
  thread.deadline = deadline
  thread.reads = new Reads()
  try {
    const [, versions] = await Promise.all([thread.change('begin'), thread.row(SELECT_VERSIONS)])
    return await work(thread, versions as unknown as Versions)
  } finally {
    // Nobody waits for it: the thread does what it is asked in order.
    thread.rollback().catch(() => undefined)
  }
}

/** The connection of a store that does not serve, where writes may block the process. */
function lasting(connection: Connection) {
  return { current: () => connection, close: () => connection.close() }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && 'syscall' in error
}
