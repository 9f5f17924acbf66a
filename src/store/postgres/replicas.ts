import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, StoreError, type StoreLog, type Versions } from '../store.js'
import type { Server } from './server.js'

/** A replica that is set aside is asked whether it is well again, soon at first. */
const FIRST_PROBE_MILLISECONDS = 10
const MAX_PROBE_MILLISECONDS = 1_000
/** One that lags is part of each change; only one that lags so long is worth a line in the log. */
const LAG_WORTH_A_WORD_MILLISECONDS = 5_000

/** A streaming replica: asked while it holds the newest data that this node knows, set aside as soon as it does not. */
export class Replica {
  isUsable = true
  private isToldAside = false
  private isClosed = false

  constructor(
    readonly server: Server,
    private readonly known: () => Versions | undefined,
    private readonly log: StoreLog,
  ) {}

  /** Runs reads in a snapshot that is no older than what is known. Throws `StoreError` where it cannot. */
  async read<T>(work: (db: Db, version: Versions) => Promise<T>): Promise<T> {
    try {
      return await this.server.read((db, found) => {
        this.check(found)
        return work(db, found)
      })
    } catch (error) {
      if (error instanceof StoreError) this.setAside(error)
      throw error
    }
  }

  setAside(reason: StoreError): void {
    if (!this.isUsable) return
    this.isUsable = false
    if (!(reason instanceof Lag)) this.tell(reason.message)
    void this.probe()
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.server.close()
  }

  private check(found: (Versions & { isReplica: boolean }) | undefined): void {
    const known = this.known()
    const { shown } = this.server.address
    if (!found) throw new StoreError('corrupt', `${shown}: the replica has no portal yet`)
    if (!found.isReplica) throw new StoreError('unreachable', `${shown}: the server is a replica no more`)
    if (!known || found.donnees < known.donnees || found.comptes < known.comptes) {
      throw new Lag('unreachable', `${shown}: the replica lags`)
    }
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
