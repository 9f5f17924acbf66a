/** A body that is ready to be sent, with what goes beside it. */
export interface Ready {
  body: Buffer
  etag: string
  link?: string
  total?: string
}

/** What an entry costs besides its body: headers, key and bookkeeping. */
const ENTRY_OVERHEAD_BYTES = 512

/**
 * Ready answers for one version of the data, bounded by bytes. A newer version empties it; when it is full, what was
 * used longest ago goes; below half of the bound nobody needs to know which that is.
 */
export class ResponseCache {
  private readonly entries = new Map<string, Ready>()
  private version = 0
  private bytes = 0

  constructor(private readonly maxBytes: number) {}

  /** What is held for a key at a version of the data. */
  get(key: string, version: number): Ready | undefined {
    if (version !== this.version) return undefined
    const entry = this.entries.get(key)
    if (!entry) return undefined
    if (this.bytes > this.maxBytes / 2) {
      this.entries.delete(key)
      this.entries.set(key, entry)
    }
    return entry
  }

  /** Holds an answer made from a version of the data; one older than what is held is not kept. */
  set(key: string, version: number, entry: Ready): void {
    if (version > this.version) this.reset(version)
    const size = sizeOf(key, entry)
    if (version < this.version || size > this.maxBytes / 8) return
    this.remove(key)
    this.entries.set(key, entry)
    this.bytes += size
    for (const oldest of this.entries.keys()) {
      if (this.bytes <= this.maxBytes) break
      this.remove(oldest)
    }
  }

  private remove(key: string): void {
    const entry = this.entries.get(key)
    if (!entry) return
    this.entries.delete(key)
    this.bytes -= sizeOf(key, entry)
  }

  private reset(version: number): void {
    this.entries.clear()
    this.bytes = 0
    this.version = version
  }
}

function sizeOf(key: string, entry: Ready): number {
  return entry.body.length + key.length * 2 + (entry.link?.length ?? 0) + ENTRY_OVERHEAD_BYTES
}
