import type { Depends } from '../contract.js'
import { readJournal } from '../store/journal.js'
import type { Store } from '../store/store.js'
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

/** A ready body that is held, and what it was made from. */
interface Held {
  ready: Ready
  depends: Depends | undefined
  /** It is known to be right at this version of the data. */
  version: number
}

/** What was made of one snapshot. */
export interface Made {
  ready: Ready
  depends: Depends | undefined
  version: number
}

/** What an entry costs besides its body: headers, key and bookkeeping. */
const ENTRY_OVERHEAD_BYTES = 512
/** What one id or one name that an answer depends on costs. */
const DEPENDENCY_BYTES = 16
/** Keys that were asked for once; when there are more, all are forgotten. */
const MAX_ASKED_ONCE = 10_000
/** More lines of the journal than this are not worth reading: everything is let go. */
const MAX_LINES_READ = 2_000

/**
 * Ready answers, bounded by bytes. Below half of the bound everything is held; above it, what is asked for twice, so that
 * requests that never repeat push nothing out, and what was used longest ago goes when it is full. An answer is held while the
 * journal says that nothing it was made from has changed.
 */
export class ResponseCache {
  private readonly entries = new Map<string, Held>()
  private readonly making = new Map<string, { version: number; made: Promise<Made> }>()
  private readonly freshness = new Freshness()
  private readonly askedOnce = new Set<string>()
  /** The journal is read up to this version of the data. */
  private version = 0
  private bytes = 0
  private catchingUp: Promise<void> | undefined

  /** A larger body is not held, as it would push out many others. */
  readonly maxEntryBytes: number

  constructor(
    private readonly store: Pick<Store, 'read' | 'versions'>,
    private readonly maxBytes: number,
  ) {
    this.maxEntryBytes = maxBytes / 8
  }

  /** Whether `get` can say what is right at a version. */
  isAt(version: number): boolean {
    return version === this.version
  }

  /** Reads the journal up to a version: what is being read may have begun before it, what is read next has not. */
  async catchUp(version: number): Promise<void> {
    for (let round = 0; round < 2 && version > this.version; round++) {
      this.catchingUp ??= this.readOn().finally(() => {
        this.catchingUp = undefined
      })
      await this.catchingUp
    }
    if (version < this.version) await this.checkBackward()
  }

  /** What is held for a key and right at a version, or at the newer one that the journal is read up to. */
  get(key: string, version: number): Ready | undefined {
    const held = this.entries.get(key)
    if (!held || version > this.version) return undefined
    if (held.version !== this.version) {
      if (!this.freshness.isFresh(held.depends, held.version)) {
        this.remove(key)
        return undefined
      }
      held.version = this.version
    }
    if (this.bytes > this.maxBytes / 2) {
      this.entries.delete(key)
      this.entries.set(key, held)
    }
    return held.ready
  }

  /** Makes an answer, once for all that ask for the same at the same version meanwhile, and holds it. */
  async make(key: string, version: number, work: () => Promise<Made>): Promise<Ready> {
    const running = this.making.get(key)
    if (running?.version === version) return (await running.made).ready
    const made = work()
    const entry = { version, made }
    this.making.set(key, entry)
    try {
      const { ready, depends, version: madeOf } = await made
      this.set(key, { ready, depends, version: madeOf })
      return ready
    } finally {
      if (this.making.get(key) === entry) this.making.delete(key)
    }
  }

  /** Holds an answer, unless it was made from another version than the journal is read up to. */
  private set(key: string, held: Held): void {
    const size = sizeOf(key, held)
    if (held.version !== this.version || size > this.maxEntryBytes) return
    if (this.bytes > this.maxBytes / 2 && !this.isAskedAgain(key)) return
    this.remove(key)
    this.entries.set(key, held)
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
    const held = this.entries.get(key)
    if (!held) return
    this.entries.delete(key)
    this.bytes -= sizeOf(key, held)
  }

  private async readOn(): Promise<void> {
    const since = this.version
    await this.store.read(async (db, { donnees }) => {
      const entries = since > 0 ? await readJournal(db, since, MAX_LINES_READ) : undefined
      this.moveTo(donnees, entries)
    })
  }

  private moveTo(version: number, entries: Parameters<Freshness['note']>[1]): void {
    this.freshness.note(version, entries)
    this.version = version
    if (entries) return
    this.entries.clear()
    this.bytes = 0
  }

  /** A request may have learnt its version before another led on; but a store that was put back says less from now on. */
  private async checkBackward(): Promise<void> {
    const before = this.version
    const { donnees } = await this.store.versions()
    if (donnees < before && before === this.version) this.moveTo(donnees, undefined)
  }
}

function sizeOf(key: string, { ready, depends }: Held): number {
  const dependencies = (depends?.names.length ?? 0) + (depends?.noms?.length ?? 0) + (depends?.ranges?.length ?? 0)
  const texts = key.length * 2 + (ready.link?.length ?? 0) + (ready.ignored?.length ?? 0)
  return ready.body.length + texts + dependencies * DEPENDENCY_BYTES + ENTRY_OVERHEAD_BYTES
}
