import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Migration } from '../migrations/migration.js'
import type { OpenOptions } from '../opening.js'
import { type Store, StoreError } from '../store.js'
import { createFile, migrate, pendingMigrations } from './migrate.js'
import { SqliteStore } from './store.js'
import { ensureWal } from './wal.js'

export async function openSqlite(url: string, { create, serving }: OpenOptions): Promise<Store> {
  const path = pathOf(url)
  let isWal = false
  // A migration begins by turning it on.
  if (create) isWal = (await migrateSqlite(url)).length > 0
  else if (!existsSync(path)) {
    throw new StoreError(
      'missing',
      `${path}: there is no store here; \`palmares import FILE\` or \`palmares serve\` makes one`,
    )
  } else if (pendingMigrations(path).length > 0) {
    throw new StoreError('older', `${path}: the store needs a newer schema; run \`palmares migrate\``)
  }
  if (!isWal) ensureWal(path)
  return new SqliteStore(path, serving !== undefined)
}

/** What `migrateSqlite` would run. */
export async function pendingInSqlite(url: string): Promise<Migration[]> {
  return pendingMigrations(pathOf(url))
}

/** Makes a missing file, brings an older one to this program's schema, and says what was run. */
export async function migrateSqlite(url: string): Promise<Migration[]> {
  const path = pathOf(url)
  createFile(path)
  return pendingMigrations(path).length > 0 ? migrate(path) : []
}

function pathOf(url: string): string {
  return resolve(url.slice('sqlite:'.length))
}
