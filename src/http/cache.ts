import type { Follower, JournalEntry, News, Subscriber } from '../store/changes.js'
import type { Dependencies } from '../store/dependencies.js'
import { Freshness } from './freshness.js'

/** A body that is ready to be sent, with what goes beside it. */
export interface Ready {
  body: Buffer
  etag: string
  link?: string
  total?: string
  /** The names in the query that the endpoint does not know. */
  ignored?: string
}

/** A ready body, what it was made from, and the version of the data that it is known to be right at. */
export interface Made {
  ready: Ready
  dependencies: Dependencies
  version: number
}

/** What an entry costs besides its body: headers, key and bookkeeping. */
const ENTRY_OVERHEAD_BYTES = 512
/** What one table, one record or one range of keys that an answer depends on costs. */
const DEPENDENCY_BYTES = 16
/** Keys that were asked for once; when there are more, all are forgotten. */
const MAX_ASKED_ONCE = 10_000

/**
 * Ready answers, bounded by bytes. Below half of the bound everything is cached; above it, what is asked for twice, so that
 * requests that never repeat push nothing out, and what was used longest ago is dropped when it is full. An answer stays cached
 * while the journal names nothing that it was made from.
 */
export class ResponseCache implements Subscriber<JournalEntry> {
  private readonly entries = new Map<string, Made>()
  /** Answers that are being made, by key and version. */
  private readonly making = new Map<string, Promise<Made>>()
  private readonly freshness = new Freshness()
  private readonly askedOnce = new Set<string>()
  private bytes = 0

  /** A larger body is not cached, as it would push out many others. */
  readonly maxEntryBytes: number
  /** Ends its subscription. */
  readonly close: () => void

  constructor(
    private readonly changes: Follower<JournalEntry>,
    private readonly maxBytes: number,
  ) {
    this.maxEntryBytes = maxBytes / 8
    this.close = changes.subscribe(this)
  }

  get isInterested(): boolean {
    return this.entries.size > 0
  }

  hear({ to, lines }: News<JournalEntry>): void {
    this.freshness.note(to, lines)
    if (lines) return
    this.entries.clear()
    this.bytes = 0
  }

  /** Resolves when `get` can answer for a version; undefined where it can already. */
  reach(version: number): Promise<void> | undefined {
    return this.changes.reach(version)
  }

  /** What is cached for a key and right at a version, or at the newer one that the journal is read up to. */
  get(key: string, version: number): Ready | undefined {
    const cached = this.entries.get(key)
    const now = this.changes.version
    if (!cached || version > now) return undefined
    if (cached.version !== now) {
      if (!this.freshness.isFresh(cached.dependencies, cached.version)) {
        this.remove(key)
        return undefined
      }
      cached.version = now
    }
    if (this.bytes > this.maxBytes / 2) {
      this.entries.delete(key)
      this.entries.set(key, cached)
    }
    return cached.ready
  }

  /** Makes an answer, once for all that ask for the same at the same version meanwhile, and caches it. */
  async make(key: string, version: number, work: () => Promise<Made>): Promise<Ready> {
    const name = `${version} ${key}`
    const running = this.making.get(name)
    if (running) return (await running).ready
    const made = work()
    this.making.set(name, made)
    try {
      const found = await made
      this.set(key, found)
      return found.ready
    } finally {
      this.making.delete(name)
    }
  }

  /** Caches an answer, unless it was made from another version than the journal is read up to. */
  private set(key: string, made: Made): void {
    const size = sizeOf(key, made)
    if (made.version !== this.changes.version || size > this.maxEntryBytes) return
    if (this.bytes > this.maxBytes / 2 && !this.isAskedAgain(key)) return
    this.remove(key)
    this.entries.set(key, made)
    this.bytes += size
    for (const oldest of this.entries.keys()) {
      if (this.bytes <= this.maxBytes) break
      this.remove(oldest)
    }
  }

  private isAskedAgain(key: string): boolean {
    if (this.askedOnce.delete(key)) return true
    if (this.askedOnce.size >= MAX_ASKED_ONCE) this.askedOnce.clear()
    this.askedOnce.add(key)
    return false
  }

  private remove(key: string): void {
    const cached = this.entries.get(key)
    if (!cached) return
    this.entries.delete(key)
    this.bytes -= sizeOf(key, cached)
  }
}

function sizeOf(key: string, { ready, dependencies }: Made): number {
  const texts = key.length * 2 + (ready.link?.length ?? 0) + (ready.ignored?.length ?? 0)
  return ready.body.length + texts + dependencies.size * DEPENDENCY_BYTES + ENTRY_OVERHEAD_BYTES
}
