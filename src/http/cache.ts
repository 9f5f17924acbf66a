import type { Follower, JournalEntry, News, Subscriber } from '../store/changes.js'
import type { Dependencies } from '../store/dependencies.js'
import { Freshness } from './freshness.js'

/** A body that is ready to be sent, and what its headers need. */
export interface Ready {
  body: Buffer
  etag: string
  link?: string
  total?: string
  /** The names in the query that the endpoint does not know. */
  ignored?: string
}

/** A ready body, what it depends on, and the version of the data at which it is known to be current. */
export interface Made {
  ready: Ready
  dependencies: Dependencies
  version: number
}

/** What an entry costs besides its body: headers, key and bookkeeping. */
const ENTRY_OVERHEAD_BYTES = 512
/** What one table, one record or one range of keys costs among the dependencies of a response. */
const DEPENDENCY_BYTES = 16
/** Maximum number of keys in `askedOnce`; at the limit it is cleared. */
const MAX_ASKED_ONCE = 10_000

/**
 * Caches responses up to a byte limit. Below half of it every response is cached; above it only those requested twice, so that
 * one-off requests evict nothing. Evicts the least recently used. A response stays cached until the journal records a change of
 * what it depends on.
 */
export class ResponseCache implements Subscriber<JournalEntry> {
  private readonly entries = new Map<string, Made>()
  /** Responses in flight, by key and version. */
  private readonly making = new Map<string, Promise<Made>>()
  private readonly freshness = new Freshness()
  private readonly askedOnce = new Set<string>()
  private bytes = 0

  /** A larger response is not cached, because it would evict many others. */
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

  /** Resolves when `get` can answer for a version; undefined if it already can. */
  reach(version: number): Promise<void> | undefined {
    return this.changes.reach(version)
  }

  /** The cached response of a key, if it is current. Undefined, too, if the journal is not read up to `version` yet. */
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

  /** Makes a response and caches it. Concurrent calls for the same key and version share one. */
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

  /** Caches a response, unless its version is not the one up to which the journal is read. */
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
