import { Semaphore } from '../../semaphore.js'
import { SharedRun } from '../../shared-run.js'
import { changesOf } from '../follower.js'
import { LONG_READS_QUEUE, withinBudget } from '../long-reads.js'
import type { Siblings } from '../opening.js'
import { storeIsClosed } from '../pool.js'
import { findBrokenReferences } from '../references.js'
import {
  type BulkOptions,
  type Change,
  type Db,
  type Domain,
  mergeAll,
  type ReadOptions,
  type Search,
  type Store,
  StoreError,
  type StoreState,
  type Versions,
} from '../store.js'
import { Connection } from './connection.js'
import { withClient } from './driver.js'
import type { Replica } from './replicas.js'
import { createSearchIndexes, findBrokenIndexes, findSearchIndexes, SEARCH_INDEXES } from './search.js'
import { type Server, versionsOf } from './server.js'
import { movesVersions, transaction } from './transaction.js'
import type { Watcher } from './watcher.js'

/** What a store that serves has beside its primary. */
export interface Beside {
  watcher: Watcher
  replicas: readonly Replica[]
  /** Connections to each server. Long reads use at most half of them; the others are for short work. */
  connections: number
  siblings?: Siblings | undefined
}

/** A portal on a PostgreSQL server that any number of nodes share, with optional replicas for reads. */
export class PostgresStore implements Store {
  readonly engine = 'postgres'
  readonly changes = changesOf(this)
  private readonly checks = new SharedRun(() => this.primary.versions())
  private readonly reads = { primary: 0, replica: 0 }
  private readonly longReads: Semaphore | undefined
  private readonly streams = new Semaphore({ permits: Number.POSITIVE_INFINITY, closed: storeIsClosed })
  private turn = 0

  constructor(
    private readonly primary: Server,
    private readonly search: Search,
    private readonly beside?: Beside,
  ) {
    // The server cancels a statement that takes too long.
    if (beside) this.longReads = new Semaphore({ ...LONG_READS_QUEUE, permits: Math.ceil(beside.connections / 2) })
  }

  /** Synchronous while notifications of the primary arrive; otherwise asks it, with a query that starts after this call. */
  versions(): Versions | Promise<Versions> {
    return this.beside?.watcher.heard ?? this.checks.next()
  }

  /** A store that does not serve hears nothing. */
  watch(moved: () => void): () => void {
    return this.beside?.watcher.watch(moved) ?? (() => undefined)
  }

  async read<T>(work: (db: Db, version: Versions) => Promise<T>, options: ReadOptions = {}): Promise<T> {
    const read = () => this.readFrom(options.source ?? 'primary', work)
    const { longReads } = this
    return options.isLong && longReads ? withinBudget((deadline) => longReads.run(read, deadline)) : read()
  }

  /** From the primary: a replica cancels a snapshot that blocks its replay. */
  stream<T>(work: (db: Db, version: Versions) => Promise<T>): Promise<T> {
    return this.streams.run(() => {
      this.reads.primary++
      return this.primary.stream((db, version) => this.shown(db, version, work))
    })
  }

  async write<T>(change: Change, work: (db: Db) => Promise<T>, domain: Domain = 'comptes'): Promise<T> {
    const { value, versions } = await this.primary.write(change, work, domain)
    await this.acknowledge(change, versions)
    return value
  }

  async bulk<T extends { change: Change }>(
    options: BulkOptions,
    stage: (db: Db) => Promise<void>,
    merge: (db: Db) => Promise<T>,
  ): Promise<T> {
    const domains: Domain[] = options.withAccounts ? ['donnees', 'comptes'] : ['donnees']
    return this.alone(async (db) => {
      await stage(db)
      const { value, versions } = await transaction(db, { domains }, () => mergeAll(db, options, merge))
      await this.acknowledge(value.change, versions)
      return value
    })
  }

  state(): StoreState {
    const known = this.beside?.replicas ?? []
    return {
      reads: { ...this.reads },
      streams: this.streams.count,
      isHearing: this.beside?.watcher.heard !== undefined,
      replicas: { usable: known.filter((replica) => replica.isUsable).length, known: known.length },
      isThreadBusy: false,
    }
  }

  async diskBytes(): Promise<number> {
    const [size] = await this.primary.read((db) =>
      db.select<{ bytes: number }>('select pg_database_size(current_database()) as bytes'),
    )
    return Number(size?.bytes)
  }

  async backup(): Promise<void> {
    throw new StoreError(
      'unsupported',
      `${this.primary.address.shown}: copy a PostgreSQL store with pg_dump or pg_basebackup, or with \`palmares export --with-accounts\``,
    )
  }

  async verify(): Promise<string[]> {
    const broken = await withClient(this.primary.address, (client) => findBrokenIndexes(client, false))
    return this.alone(async (db) => {
      return [...broken.map((index) => `the index ${index} is not valid`), ...(await findBrokenReferences(db))]
    })
  }

  async verifySearch(): Promise<string[]> {
    return withClient(this.primary.address, async (client) => {
      const found = await findSearchIndexes(client)
      // A portal without search indexes has none; if there are only some, the others were lost.
      const lost = found.length === 0 ? [] : SEARCH_INDEXES.filter((index) => !found.includes(index))
      const broken = await findBrokenIndexes(client, true)
      return [...new Set([...lost, ...broken])].map((index) => `the index ${index}`)
    })
  }

  async rebuildSearch(): Promise<void> {
    await withClient(this.primary.address, async (client) => {
      // What an interrupted rebuild left.
      for (const index of await findBrokenIndexes(client, true)) await client.query(`drop index ${index}`)
      const found = await findSearchIndexes(client)
      if (found.length === 0) return
      // Readers and writers continue while an index is rebuilt.
      for (const index of found) await client.query(`reindex index concurrently ${index}`)
      await createSearchIndexes(client)
    })
  }

  async close(): Promise<void> {
    const { watcher, replicas = [], siblings } = this.beside ?? {}
    siblings?.leave()
    await this.streams.close()
    await Promise.all([this.primary, ...replicas, watcher].map((each) => each?.close()))
  }

  private async readFrom<T>(source: 'primary' | 'any', work: (db: Db, version: Versions) => Promise<T>): Promise<T> {
    for (const replica of source === 'any' ? this.usableReplicas() : []) {
      try {
        const value = await replica.read((db, version) => this.shown(db, version, work))
        this.reads.replica++
        return value
      } catch (error) {
        // A read that took too long there would take as long elsewhere.
        if (!(error instanceof StoreError) || error.fault === 'slow') throw error
      }
    }
    this.reads.primary++
    return this.primary.read((db, version) => this.shown(db, version, work))
  }

  /** After a commit: this process and its siblings know its versions before the caller does. */
  private async acknowledge(change: Change, versions: Versions): Promise<void> {
    this.beside?.watcher.note(versions)
    if (movesVersions(change)) await this.beside?.siblings?.announce(versions)
  }

  /** Records the version that a response will show, so that no later response shows an older one. */
  private shown<T>(db: Db, version: Versions, work: (db: Db, version: Versions) => Promise<T>): Promise<T> {
    const versions = versionsOf(version)
    this.beside?.watcher.note(versions)
    return work(db, versions)
  }

  /** The usable replicas, starting with another one each time. */
  private usableReplicas(): Replica[] {
    const usable = this.beside?.replicas.filter((replica) => replica.isUsable) ?? []
    if (usable.length < 2) return usable
    this.turn = (this.turn + 1) % usable.length
    return [...usable.slice(this.turn), ...usable.slice(0, this.turn)]
  }

  /** Long work has its own connection, whose temporary tables end with it. */
  private alone<T>(work: (db: Connection) => Promise<T>): Promise<T> {
    return withClient(this.primary.address, (client) => work(new Connection(client, this.primary.address, this.search)))
  }
}
