/** A cached response, which is revalidated with its ETag. */
export interface CacheEntry {
  etag: string
  /** The body as received: JSON in ASCII. */
  body: string
  /** The headers of the response. */
  headers: Record<string, string>
}

/**
 * A store for cached responses. A key identifies a URL, a query and a credential, without containing the credential. If a
 * cache operation fails, the request is sent without an ETag.
 */
export interface Cache {
  get(key: string): CacheEntry | undefined | Promise<CacheEntry | undefined>
  set(key: string, entry: CacheEntry): unknown
}

/** An in-memory LRU cache with a limit on entries and on bytes. */
export class MemoryCache implements Cache {
  readonly #entries = new Map<string, CacheEntry>()
  readonly #maxEntries: number
  readonly #maxBytes: number
  #bytes = 0

  constructor({ maxEntries = 1_000, maxBytes = 16_777_216 }: { maxEntries?: number; maxBytes?: number } = {}) {
    this.#maxEntries = maxEntries
    this.#maxBytes = maxBytes
  }

  /** Total size of keys, bodies and headers, one byte per ASCII character. */
  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): CacheEntry | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    // A Map iterates in insertion order, so the first key is the least recently used one.
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
