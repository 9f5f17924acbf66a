import { SharedRun } from '../shared-run.js'
import type { Changes, Follower, News, Subscriber } from './changes.js'
import { readEnded } from './ended.js'
import { readJournal } from './journal.js'
import type { Db, Store, Versions } from './store.js'

/** What a follower reads from. */
export interface Followed extends Pick<Store, 'versions' | 'read'> {
  /** Calls back whenever a version may have moved, until the function that it returns is called. */
  watch(moved: () => void): () => void
}

/** More lines of the journal than this are not worth reading: subscribers then drop everything. */
const MAX_LINES_READ = 2_000

/** Follows a store. What is read of its changes is read when a subscriber needs it. */
export function changesOf(store: Followed): Changes {
  return {
    donnees: new VersionFollower('donnees', store, (db, since) =>
      since > 0 ? readJournal(db, since, MAX_LINES_READ) : undefined,
    ),
    comptes: new VersionFollower('comptes', store, readEnded),
  }
}

type ReadLines<Line> = (db: Db, since: number, version: number) => Promise<readonly Line[] | undefined> | undefined

/** A request calls `reach` with the version that it must see; an eager subscriber hears without any request. */
class VersionFollower<Line> implements Follower<Line> {
  private readonly subscribers = new Set<Subscriber<Line>>()
  private readonly reading = new SharedRun(() => this.readOn())
  private eager = 0
  private stopWatching: (() => void) | undefined
  private reached = 0

  constructor(
    private readonly kind: keyof Versions,
    private readonly store: Followed,
    private readonly readLines: ReadLines<Line>,
  ) {}

  get version(): number {
    return this.reached
  }

  reach(version: number): Promise<void> | undefined {
    if (version === this.reached) return undefined
    if (!this.isAwaited()) return this.publish(version, undefined)
    return this.catchUp(version)
  }

  subscribe(subscriber: Subscriber<Line>, { isEager = false } = {}): () => void {
    this.subscribers.add(subscriber)
    if (isEager && this.eager++ === 0) this.stopWatching = this.store.watch(() => void this.look())
    return () => {
      if (!this.subscribers.delete(subscriber) || !isEager || --this.eager > 0) return
      this.stopWatching?.()
      this.stopWatching = undefined
    }
  }

  private isAwaited(): boolean {
    if (this.eager > 0) return true
    for (const { isInterested } of this.subscribers) if (isInterested) return true
    return false
  }

  /** A read in flight may predate `version`; the next one cannot. */
  private async catchUp(version: number): Promise<void> {
    for (let round = 0; round < 2 && version > this.reached; round++) await this.reading.current()
    if (version < this.reached) await this.checkBackward()
  }

  private readOn(): Promise<void> {
    const since = this.reached
    return this.store.read(async (db, versions) => {
      const version = versions[this.kind]
      const lines = await this.readLines(db, since, version)
      // Where the store went back meanwhile, these lines do not follow the last news.
      this.publish(version, since === this.reached ? lines : undefined)
    })
  }

  /** A request may have learnt its version before another one advanced it, or the store may have gone back. */
  private async checkBackward(): Promise<void> {
    const before = this.reached
    const version = (await this.store.versions())[this.kind]
    if (version < before && before === this.reached) this.publish(version, undefined)
  }

  private publish(to: number, lines: readonly Line[] | undefined): undefined {
    const news: News<Line> = { from: this.reached, to, lines }
    this.reached = to
    for (const subscriber of this.subscribers) subscriber.hear(news)
  }

  /** A store that cannot be read now is looked at again when it calls back. */
  private async look(): Promise<void> {
    try {
      await this.reach((await this.store.versions())[this.kind])
    } catch {}
  }
}
