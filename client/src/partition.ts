/**
 * Separates the cache entries of different credentials. An API key is identified by its SHA-256, so a persistent cache stays
 * valid after a restart. A page cannot read its session cookie, so a session gets a random name, and a new one at each login.
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
  // Pages loaded without TLS have no `crypto.subtle`: their entries are valid only during the lifetime of the client.
  const subtle: typeof globalThis.crypto.subtle | undefined = globalThis.crypto.subtle
  if (apiKey === undefined || !subtle) return toHex(globalThis.crypto.getRandomValues(new Uint8Array(16)))
  return toHex(new Uint8Array(await subtle.digest('SHA-256', new TextEncoder().encode(apiKey))))
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
