import { NodesByVersion } from '../nodes.js'
import { Reads } from '../reads.js'
import { type Change, type Db, type Domain, type Search, StoreError, type Versions } from '../store.js'
import type { Address } from './address.js'
import { Connection } from './connection.js'
import { connect, makePool, type PoolClient, SHORT_QUESTIONS, toConnectError } from './driver.js'
import { LOCK_MILLISECONDS, transaction } from './transaction.js'

export interface ServerOptions {
  /** Maximum number of connections. */
  connections: number
  /** How long one piece of work may take in all; undefined: without limit. */
  timeoutMilliseconds: number | undefined
}

/** The server cancels a statement of a request that takes longer. */
const STATEMENT_MILLISECONDS = 2_000
/**
 * The server ends a streamed read that is idle for this long: a client that stops reading is disconnected earlier, so the
 * process must be gone.
 */
const SILENT_READER_MILLISECONDS = 120_000
/** How many calls may wait for a connection; more are refused at once. */
const MAX_WAITING = 1_000

/**
 * Live lines use temporary tables of a few rows. PostgreSQL has no statistics for them, overestimates them and would scan whole
 * tables in joins. So joins keep their written order, which starts with the temporary table, and use indexes.
 */
const BY_INDEX = `set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off;
  set local join_collapse_limit = 1; set local jit = off`

export const SELECT_VERSIONS =
  'select version_donnees as donnees, version_comptes as comptes, identite, pg_is_in_recovery() as "isReplica" from etat'

const BEGIN_READ = { text: 'begin isolation level repeatable read' }
const NAMED_VERSIONS = { name: 'versions', text: SELECT_VERSIONS }

/** What a server reports with each snapshot. */
export interface Snapshot extends Versions {
  /** Identifies the portal: a primary and its replicas have the same, other databases another. */
  identite: string
  isReplica: boolean
}

/** One PostgreSQL server behind a connection pool. Every call ends within its time limit, whatever the server does. */
export class Server {
  private pool: ReturnType<typeof makePool>
  private readonly nodes = new NodesByVersion()
  private isClosed = false

  constructor(
    readonly address: Address,
    private readonly search: Search,
    private readonly options: ServerOptions,
  ) {
    this.pool = this.openPool()
  }

  /** Replaces all connections, because the address may now lead to another server. */
  renew(): void {
    const before = this.pool
    this.pool = this.openPool()
    before.end().catch(() => undefined)
  }

  /** The versions now. */
  async versions(): Promise<Versions> {
    return this.lend(this.options.timeoutMilliseconds, async (db) => {
      const [found] = (await db.query({ text: SELECT_VERSIONS })).rows as Snapshot[]
      return checked(this.address, found).versions
    })
  }

  /** Runs reads in one snapshot. It ends with a rollback in the background. */
  read<T>(work: (db: Db, found: Snapshot) => Promise<T>): Promise<T> {
    return this.lend(this.options.timeoutMilliseconds, async (db) => {
      try {
        // Both are sent at once; the second is a prepared statement.
        const [, { rows }] = await Promise.all([db.query(BEGIN_READ), db.query(NAMED_VERSIONS)])
        const [found] = rows as Snapshot[]
        if (found) db.nodes = this.nodes.of(found.donnees)
        db.reads = new Reads()
        return await work(db, found as Snapshot)
      } finally {
        db.query({ text: 'rollback' }).catch(() => undefined)
      }
    })
  }

  /** Like `read`, for work that lasts, on its own connection: each statement has a time limit, the whole has none. */
  async stream<T>(work: (db: Db, found: Snapshot) => Promise<T>): Promise<T> {
    const { timeoutMilliseconds: answer } = this.options
    const times = { idleTransaction: SILENT_READER_MILLISECONDS, ...(answer && { connect: answer, answer }) }
    const client = await connect(this.address, times)
    const db = new Connection(client, this.address, this.search)
    try {
      await db.query({ text: SHORT_QUESTIONS })
      await db.query(BEGIN_READ)
      const [found] = (await db.query({ text: SELECT_VERSIONS })).rows as Snapshot[]
      db.reads = new Reads()
      return await work(db, found as Snapshot)
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  /** Runs one transaction of short changes, after other writers of the same domain. Returns the versions that it made. */
  write<T>(change: Change, work: (db: Db) => Promise<T>, domain: Domain): Promise<{ value: T; versions: Versions }> {
    const { timeoutMilliseconds } = this.options
    const lockMilliseconds = Math.min(LOCK_MILLISECONDS, timeoutMilliseconds ?? LOCK_MILLISECONDS)
    const patience = timeoutMilliseconds === undefined ? undefined : timeoutMilliseconds + lockMilliseconds
    const settings = [...(domain === 'donnees' ? [BY_INDEX] : []), `set local statement_timeout = ${patience ?? 0}`]
    return this.lend(patience, (db) =>
      transaction(db, { domains: [domain], lockMilliseconds, settings }, async () => ({
        value: await work(db),
        change,
      })),
    )
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.pool.end()
  }

  private openPool(): ReturnType<typeof makePool> {
    const { connections, timeoutMilliseconds } = this.options
    const times = timeoutMilliseconds && {
      connect: timeoutMilliseconds,
      // The server's statement timeout must come before the connection's.
      statement: Math.min(STATEMENT_MILLISECONDS, Math.ceil(0.8 * timeoutMilliseconds)),
      idleTransaction: 2 * timeoutMilliseconds,
    }
    return makePool(this.address, times || {}, connections)
  }

  private async lend<T>(patience: number | undefined, work: (db: Connection) => Promise<T>): Promise<T> {
    if (this.isClosed) throw new StoreError('unreachable', `${this.address.shown}: the store is closed`)
    if (this.pool.waitingCount >= MAX_WAITING) throw this.exhausted()
    const deadline = patience === undefined ? undefined : Date.now() + patience
    const client = await this.connect()
    const db = new Connection(client, this.address, this.search, deadline)
    try {
      return await work(db)
    } finally {
      client.release(db.isBroken)
    }
  }

  private async connect(): Promise<PoolClient> {
    try {
      return await this.pool.connect()
    } catch (error) {
      const isFull = this.pool.totalCount >= this.options.connections && this.pool.idleCount === 0
      throw isFull && /timeout exceeded/.test(String(error)) ? this.exhausted() : toConnectError(this.address, error)
    }
  }

  private exhausted(): StoreError {
    const message = `${this.address.shown}: every one of the ${this.options.connections} connections is in use; raise --database-connections`
    return new StoreError('busy', message)
  }
}

/** The versions that a primary reports. Throws `StoreError` if it is no longer a primary. */
export function checked(address: Address, found: Snapshot | undefined): { versions: Versions; identite: string } {
  if (!found) throw new StoreError('corrupt', `${address.shown}: the table etat is empty; restore a backup`)
  if (found.isReplica) throw notPrimary(address)
  return { versions: versionsOf(found), identite: found.identite }
}

export function versionsOf({ donnees, comptes }: Versions): Versions {
  return { donnees, comptes }
}

export function notPrimary(address: Address): StoreError {
  return new StoreError(
    'readonly',
    `${address.shown}: this is a replica; give --database the primary, and --replica this one`,
  )
}
