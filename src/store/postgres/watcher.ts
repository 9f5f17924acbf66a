import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../log.js'
import { SharedRun } from '../../shared-run.js'
import type { Member, Siblings } from '../opening.js'
import type { Versions } from '../store.js'
import type { Address } from './address.js'
import { type Client, connect, toStoreError } from './driver.js'
import { checked, SELECT_VERSIONS, type Snapshot } from './server.js'
import { CHANNEL_PREFIX } from './transaction.js'

/** A silent connection may be dead. It is queried at this interval, and must answer within it. */
const HEARTBEAT_MILLISECONDS = 1_000
const CONNECT_MILLISECONDS = 2_000
const FIRST_RETRY_MILLISECONDS = 50
const MAX_RETRY_MILLISECONDS = 2_000

const NOTHING: Versions = { donnees: 0, comptes: 0 }

/** A connection that listens, and the queries that use it. */
interface Line {
  client: Client
  checks: SharedRun<Versions>
}

/**
 * Receives from the primary the versions that its commits made. While it is connected, what it knows is some milliseconds old
 * at most. After a lost connection it knows nothing until it listens again and has caught up.
 */
export class Watcher implements Member {
  /** The portal that it listens to, once it does. */
  identite: string | undefined
  private line: Line | undefined
  /** The latest known versions; undefined while the connection is lost. */
  private known: Versions | undefined
  /** What was recorded since the query in flight was sent. */
  private noted = NOTHING
  private readonly watching = new Set<() => void>()
  private isClosed = false
  private beat: NodeJS.Timeout | undefined

  constructor(
    private readonly address: Address,
    private readonly log: Log,
    /** Called when the connection is back, perhaps to another server. */
    private readonly renewed: () => void,
    private readonly siblings?: Siblings,
  ) {}

  /** The versions; undefined if a change may have been acknowledged that this process does not know. */
  get heard(): Versions | undefined {
    return this.siblings?.isInformed === false ? undefined : this.known
  }

  /** Calls back whenever a version may have moved, until the function that it returns is called. */
  watch(moved: () => void): () => void {
    this.watching.add(moved)
    return () => this.watching.delete(moved)
  }

  /** Listens, or throws `StoreError`. */
  async start(): Promise<void> {
    const client = await connect(this.address, { connect: CONNECT_MILLISECONDS, answer: HEARTBEAT_MILLISECONDS })
    const line: Line = { client, checks: new SharedRun(() => this.ask(line)) }
    this.line = line
    try {
      const { rows } = await client.query<{ schema: string }>('select current_schema() as schema')
      await client.query(`listen ${client.escapeIdentifier(CHANNEL_PREFIX + rows[0]?.schema)}`)
      // Every user of the database may notify, so a notification only causes a query.
      client.on('notification', () => void this.check(line))
      client.once('end', () => this.lose(line, 'the connection ended'))
      this.beat = setInterval(() => void this.check(line), HEARTBEAT_MILLISECONDS)
      await line.checks.next()
    } catch (error) {
      this.line = undefined
      clearInterval(this.beat)
      await client.end().catch(() => undefined)
      throw toStoreError(this.address, error)
    }
    if (this.isClosed) await this.close()
  }

  /** Records versions that a response showed, or that our own commit made. Nothing older is shown from then on. */
  note(versions: Versions): void {
    this.noted = newest(this.noted, versions)
    const { known } = this
    if (!known) return
    this.known = newest(known, versions)
    if (this.known.donnees > known.donnees || this.known.comptes > known.comptes) this.ring()
  }

  /** Does nothing without a connection: then nothing is known until it is back. */
  async catchUp(): Promise<void> {
    if (this.line) await this.check(this.line)
  }

  async close(): Promise<void> {
    this.isClosed = true
    clearInterval(this.beat)
    const { line } = this
    this.line = undefined
    this.known = undefined
    await line?.client.end().catch(() => undefined)
  }

  /**
   * What was recorded before the query was sent had been committed by then, so the answer is not lower. If it is, a failover
   * lost the recorded version, and the answer counts.
   */
  private async ask(line: Line): Promise<Versions> {
    this.noted = NOTHING
    const { rows } = await line.client.query<Snapshot>(SELECT_VERSIONS)
    const { identite, versions } = checked(this.address, rows[0])
    if (this.line === line) {
      this.identite = identite
      this.known = newest(this.noted, versions)
      this.ring()
    }
    return versions
  }

  private ring(): void {
    for (const moved of this.watching) moved()
  }

  private async check(line: Line): Promise<void> {
    try {
      await line.checks.next()
    } catch (error) {
      this.lose(line, (error as Error).message)
    }
  }

  /** From now on nothing is known; each request queries the versions until the connection is back. */
  private lose(line: Line, reason: string): void {
    if (this.line !== line || !this.known) return
    this.line = undefined
    this.known = undefined
    clearInterval(this.beat)
    line.client.end().catch(() => undefined)
    this.log.warn(
      `${this.address.shown}: no longer listening for changes (${reason}); every request asks for the version`,
    )
    void this.retry()
  }

  private async retry(): Promise<void> {
    let pause = FIRST_RETRY_MILLISECONDS
    while (!this.isClosed) {
      await sleep(pause, undefined, { ref: false })
      pause = Math.min(pause * 2, MAX_RETRY_MILLISECONDS)
      const isBack = await this.start().then(
        () => true,
        () => false,
      )
      if (!isBack) continue
      this.renewed()
      this.log.info(`${this.address.shown}: listening for changes again`)
      return
    }
  }
}

function newest(one: Versions, other: Versions): Versions {
  return { donnees: Math.max(one.donnees, other.donnees), comptes: Math.max(one.comptes, other.comptes) }
}
