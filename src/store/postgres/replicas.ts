import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, StoreError, type StoreFault, type StoreLog, type Versions } from '../store.js'
import { withClient } from './driver.js'
import { refusePooler } from './pooler.js'
import type { Server, Snapshot } from './server.js'
import type { Watcher } from './watcher.js'

/** A replica that is set aside is asked whether it is well again, soon at first. */
const FIRST_PROBE_MILLISECONDS = 10
const MAX_PROBE_MILLISECONDS = 1_000
/** One that does not answer at the start is set aside. */
const PROVE_MILLISECONDS = 1_000
/** One that lags is part of each change; only one that lags so long is worth a line in the log. */
const LAG_WORTH_A_WORD_MILLISECONDS = 5_000

/** Faults of a single read: the server is well, and asked again. */
const PASSING: ReadonlySet<StoreFault> = new Set(['busy', 'slow'])
/** Faults that no waiting mends: the address was not meant. */
const LASTING: ReadonlySet<StoreFault> = new Set(['denied', 'foreign', 'missing', 'unsupported'])

/** A streaming replica: asked while it holds just the data that this node knows, set aside as soon as it does not. */
export class Replica {
  isUsable = true
  private isToldAside = false
  private isClosed = false

  constructor(
    readonly server: Server,
    private readonly watcher: Watcher,
    private readonly log: StoreLog,
  ) {}

  /** Looks at it before it is used: throws `StoreError` for an address that was not meant; one that is away is waited for. */
  async prove(): Promise<void> {
    const { address } = this.server
    try {
      await withClient(address, (client) => refusePooler(address, client), {
        connect: PROVE_MILLISECONDS,
        answer: PROVE_MILLISECONDS,
      })
      await this.server.read(async (_db, found) => this.check(found))
    } catch (error) {
      if (!(error instanceof StoreError) || LASTING.has(error.fault)) throw error
      this.setAside(error)
    }
  }

  /** Runs reads in a snapshot of the data that is known. Throws `StoreError` where it cannot. */
  async read<T>(work: (db: Db, version: Versions) => Promise<T>): Promise<T> {
    try {
      return await this.server.read((db, found) => {
        this.check(found)
        return work(db, found)
      })
    } catch (error) {
      if (error instanceof StoreError && !PASSING.has(error.fault)) this.setAside(error)
      throw error
    }
  }

  private setAside(reason: StoreError): void {
    if (!this.isUsable) return
    this.isUsable = false
    if (!(reason instanceof Lag)) this.tell(reason.message)
    void this.probe()
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.server.close()
  }

  /** A replica may be behind what the primary told, and for a moment before it; neither is shown. */
  private check(found: Snapshot | undefined): void {
    const { heard, identite } = this.watcher
    const { shown } = this.server.address
    if (!found) throw new StoreError('corrupt', `${shown}: the replica has no portal yet`)
    if (!found.isReplica) {
      throw new StoreError(
        'unsupported',
        `${shown}: this is no streaming replica; give --replica one of the --database`,
      )
    }
    if (identite !== undefined && found.identite !== identite) {
      throw new StoreError(
        'foreign',
        `${shown}: this is a replica of another portal; give --replica one of the --database`,
      )
    }
    if (found.donnees !== heard?.donnees) throw new Lag('unreachable', `${shown}: the replica lags`)
  }

  /** Asks until the replica is back at the newest data. */
  private async probe(): Promise<void> {
    const since = Date.now()
    for (let pause = FIRST_PROBE_MILLISECONDS; !this.isClosed; pause = Math.min(pause * 2, MAX_PROBE_MILLISECONDS)) {
      await sleep(pause, undefined, { ref: false })
      try {
        await this.server.read(async (_db, found) => this.check(found))
        this.isUsable = true
        if (this.isToldAside) this.log.info(`${this.server.address.shown}: reads go to this replica again`)
        this.isToldAside = false
        return
      } catch (error) {
        if (Date.now() - since > LAG_WORTH_A_WORD_MILLISECONDS) this.tell((error as Error).message)
      }
    }
  }

  private tell(reason: string): void {
    if (!this.isToldAside && !this.isClosed) this.log.warn(`${reason}; reads go to the primary meanwhile`)
    this.isToldAside = true
  }
}

/** The replica is well, and not yet where the primary is. */
class Lag extends StoreError {}
