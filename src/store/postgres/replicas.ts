import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../log.js'
import { type Db, StoreError, type StoreFault, type Versions } from '../store.js'
import { withClient } from './driver.js'
import { refusePooler } from './pooler.js'
import type { Server, Snapshot } from './server.js'
import type { Watcher } from './watcher.js'

/** A replica that is set aside is probed, with pauses that double up to the maximum. */
const FIRST_PROBE_MILLISECONDS = 10
const MAX_PROBE_MILLISECONDS = 1_000
/** A replica that does not answer for so long at startup is set aside. */
const PROVE_MILLISECONDS = 1_000
/** Every change makes a replica lag briefly; only a longer lag is logged. */
const MIN_LOGGED_LAG_MILLISECONDS = 5_000

/** Faults of a single read: the replica stays in use. */
const PASSING: ReadonlySet<StoreFault> = new Set(['busy', 'slow'])
/** Faults that waiting does not fix: the address is wrong. */
const LASTING: ReadonlySet<StoreFault> = new Set(['denied', 'foreign', 'missing', 'unsupported'])

/** A streaming replica. It is used while it has exactly the newest known data, and set aside when it does not. */
export class Replica {
  isUsable = true
  private isReported = false
  private isClosed = false

  constructor(
    readonly server: Server,
    private readonly watcher: Watcher,
    private readonly log: Log,
  ) {}

  /** Checks the replica before it is used. Throws `StoreError` if the address is wrong; a replica that is down is set aside. */
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

  /** Runs reads in a snapshot of the newest known data. Throws `StoreError` if it cannot. */
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
    if (!(reason instanceof Lag)) this.warnOnce(reason.message)
    void this.probe()
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.server.close()
  }

  /** A replica may be behind the known version, or briefly ahead of it; it is used in neither case. */
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

  /** Probes the replica until it is back at the newest data. */
  private async probe(): Promise<void> {
    const since = Date.now()
    for (let pause = FIRST_PROBE_MILLISECONDS; !this.isClosed; pause = Math.min(pause * 2, MAX_PROBE_MILLISECONDS)) {
      await sleep(pause, undefined, { ref: false })
      try {
        await this.server.read(async (_db, found) => this.check(found))
        this.isUsable = true
        if (this.isReported) this.log.info(`${this.server.address.shown}: reads go to this replica again`)
        this.isReported = false
        return
      } catch (error) {
        if (Date.now() - since > MIN_LOGGED_LAG_MILLISECONDS) this.warnOnce((error as Error).message)
      }
    }
  }

  private warnOnce(reason: string): void {
    if (!this.isReported && !this.isClosed) this.log.warn(`${reason}; reads go to the primary meanwhile`)
    this.isReported = true
  }
}

/** The replica works, but does not have the newest known data. */
class Lag extends StoreError {}
