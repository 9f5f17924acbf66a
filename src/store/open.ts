import type { Migration } from './migrations/migration.js'
import type { MigrateOptions, Opener, OpenOptions } from './opening.js'
import { isPostgres, readAddress } from './postgres/address.js'
import type { Engine } from './query.js'
import type { Store } from './store.js'

/** Each engine's driver is loaded by whoever uses it, and by nobody else. */
const openers: Record<Engine, () => Promise<Opener>> = {
  async sqlite() {
    const { migrateSqlite, openSqlite, pendingInSqlite } = await import('./sqlite/open.js')
    return { open: openSqlite, pending: pendingInSqlite, migrate: migrateSqlite }
  },
  async postgres() {
    const { migratePostgres, openPostgres, pendingInPostgres } = await import('./postgres/open.js')
    return { open: openPostgres, pending: pendingInPostgres, migrate: migratePostgres }
  },
}

/** Opens the store of a `--database` address. Throws `StoreError`. */
export async function openStore(url: string, options: OpenOptions): Promise<Store> {
  return (await openerOf(url)).open(url, options)
}

/** What `migrateStore` would run. */
export async function pendingOf(url: string): Promise<Migration[]> {
  return (await openerOf(url)).pending(url)
}

/** Makes a missing store, brings an older one to this program's schema, and says what was run. */
export async function migrateStore(url: string, options: MigrateOptions): Promise<Migration[]> {
  return (await openerOf(url)).migrate(url, options)
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

function openerOf(url: string): Promise<Opener> {
  return openers[isPostgres(url) ? 'postgres' : 'sqlite']()
}
