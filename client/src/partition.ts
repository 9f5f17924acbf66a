/**
 * Tells apart in the keys of a cache whose answers they are. A key of the API is known by its SHA-256, so that a cache that outlives
 * the process is found again. Whose session it is a page cannot know, so that name is random, and a new one follows each login.
 */
export class Partition {
  readonly #apiKey: string | undefined
  #name: Promise<string>

  constructor(apiKey: string | undefined) {
    this.#apiKey = apiKey
    this.#name = nameOf(apiKey)
  }

  name(): Promise<string> {
    return this.#name
  }

  renew(): void {
    if (this.#apiKey === undefined) this.#name = nameOf(undefined)
  }
}

async function nameOf(apiKey: string | undefined): Promise<string> {
  // Pages that came without TLS have no `subtle`: their answers are kept for as long as the client is.
  const subtle: typeof globalThis.crypto.subtle | undefined = globalThis.crypto.subtle
  if (apiKey === undefined || !subtle) return toHex(globalThis.crypto.getRandomValues(new Uint8Array(16)))
  return toHex(new Uint8Array(await subtle.digest('SHA-256', new TextEncoder().encode(apiKey))))
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
