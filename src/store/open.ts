import type { Migration } from './migrations/migration.js'
import type { MigrateOptions, OpenOptions } from './opening.js'
import { isPostgres, readAddress } from './postgres/address.js'
import type { Store } from './store.js'

/** Opens the store of a `--database` address. Throws `StoreError`. */
export async function openStore(url: string, options: OpenOptions): Promise<Store> {
  return (await engineOf(url)).open(url, options)
}

/** What `migrateStore` would run. */
export async function pendingOf(url: string): Promise<Migration[]> {
  return (await engineOf(url)).pending(url)
}

/** Whether there is no store at an address yet. */
export async function isMissing(url: string): Promise<boolean> {
  return (await pendingOf(url))[0]?.version === 1
}

/** Makes a missing store, brings an older one to this program's schema, and returns what was run. */
export async function migrateStore(url: string, options: MigrateOptions): Promise<Migration[]> {
  return (await engineOf(url)).migrate(url, options)
}

/** Whether an address is one that this program can open; the reason where it is not, without the address. */
export function checkDatabaseUrl(url: string): string | undefined {
  if (isPostgres(url)) {
    const address = readAddress(url)
    return typeof address === 'string' ? address : undefined
  }
  if (/^sqlite:(?!.*:\/\/)./.test(url)) return undefined
  return 'takes sqlite:PATH, for example sqlite:data/palmares.db, or postgres://USER:PASSWORD@HOST/DATABASE'
}

/** An address for people to read: it never shows a password. */
export function showDatabaseUrl(url: string): string {
  const address = isPostgres(url) ? readAddress(url) : url
  if (typeof address === 'string') return address
  return address.shown
}

/** Only the engine that is used loads its driver. */
function engineOf(url: string) {
  return isPostgres(url) ? import('./postgres/open.js') : import('./sqlite/open.js')
}
