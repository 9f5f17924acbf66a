import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Migration } from './migrations/migration.js'
import { createFile, migrate, pendingMigrations } from './sqlite/migrate.js'
import { SqliteStore } from './sqlite/store.js'
import { type Store, StoreError } from './store.js'

/** Opens the store of a `--database` address. `create` makes and migrates one that is missing or older. */
export async function openStore(url: string, options: { create: boolean }): Promise<Store> {
  const path = sqlitePath(url)
  if (options.create) {
    await migrateStore(url)
    return new SqliteStore(path)
  }
  if (!existsSync(path)) {
    throw new StoreError(
      'missing',
      `${path}: there is no store here; \`palmares import FILE\` or \`palmares serve\` makes one`,
    )
  }
  if (pendingMigrations(path).length > 0) {
    throw new StoreError('older', `${path}: the store needs a newer schema; run \`palmares migrate\``)
  }
  return new SqliteStore(path)
}

/** What `migrateStore` would run. */
export function pendingOf(url: string): Migration[] {
  return pendingMigrations(sqlitePath(url))
}

/** Makes a missing store, brings an older one to this program's schema, and says what was run. */
export async function migrateStore(url: string): Promise<Migration[]> {
  const path = sqlitePath(url)
  createFile(path)
  return pendingMigrations(path).length > 0 ? migrate(path) : []
}

/** Whether an address is one that this program can open; the reason where it is not. */
export function checkDatabaseUrl(url: string): string | undefined {
  if (url.startsWith('sqlite:') && url.length > 'sqlite:'.length) return undefined
  return 'takes sqlite:PATH, for example sqlite:data/palmares.db'
}

function sqlitePath(url: string): string {
  return resolve(url.slice('sqlite:'.length))
}
