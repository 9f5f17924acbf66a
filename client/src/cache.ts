/** An answer that can be asked for again with its tag. */
export interface CacheEntry {
  etag: string
  /** The body as it came: JSON in ASCII. */
  body: string
  /** The headers that belong to it. */
  headers: Record<string, string>
}

/**
 * Where answers are kept. A key tells apart addresses, queries and credentials, and holds no credential. What fails here fails
 * no request: it is then asked for without a tag.
 */
export interface Cache {
  get(key: string): CacheEntry | undefined | Promise<CacheEntry | undefined>
  set(key: string, entry: CacheEntry): unknown
}

/** Keeps what was used last in memory, within both bounds. */
export class MemoryCache implements Cache {
  readonly #entries = new Map<string, CacheEntry>()
  readonly #maxEntries: number
  readonly #maxBytes: number
  #bytes = 0

  constructor({ maxEntries = 1_000, maxBytes = 16_777_216 }: { maxEntries?: number; maxBytes?: number } = {}) {
    this.#maxEntries = maxEntries
    this.#maxBytes = maxBytes
  }

  /** The bytes of the keys, bodies and headers held, a character of ASCII each. */
  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): CacheEntry | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    // A map lists its keys in the order of insertion, so the first is the one that was not used for longest.
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry
  }

  set(key: string, entry: CacheEntry): void {
    this.#delete(key)
    if (bytesOf(key, entry) > this.#maxBytes) return
    this.#entries.set(key, entry)
    this.#bytes += bytesOf(key, entry)
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries && this.#bytes <= this.#maxBytes) return
      this.#delete(oldest)
    }
  }

  #delete(key: string): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    this.#entries.delete(key)
    this.#bytes -= bytesOf(key, entry)
  }
}

function bytesOf(key: string, { etag, body, headers }: CacheEntry): number {
  const texts = [key, etag, body, ...Object.keys(headers), ...Object.values(headers)]
  return texts.reduce((sum, text) => sum + text.length, 0)
}
