import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { migrations, SCHEMA_VERSION } from '../migrations/index.js'
import type { Migration, SqliteStep } from '../migrations/migration.js'
import type { OpenOptions } from '../opening.js'
import { type Store, StoreError } from '../store.js'
import { Connection } from './connection.js'
import { SqliteStore } from './store.js'
import { beginImmediate } from './transaction.js'
import { ensureWal, turnOnWal } from './wal.js'

/** Marks the file as ours, so that another file is not taken for a store: "PLMS" in ASCII. */
const APPLICATION_ID = 0x504c4d53

export async function open(url: string, { create, serving }: OpenOptions): Promise<Store> {
  const path = pathOf(url)
  let isWal = false
  // A migration begins by turning it on.
  if (create) isWal = (await migrate(url)).length > 0
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

/** What `migrate` would run. */
export async function pending(url: string): Promise<Migration[]> {
  return pendingMigrations(pathOf(url))
}

/** Makes a missing file, brings an older one to this program's schema, and returns what was run. */
export async function migrate(url: string): Promise<Migration[]> {
  const path = pathOf(url)
  createFile(path)
  return pendingMigrations(path).length > 0 ? migrateFile(path) : []
}

function pathOf(url: string): string {
  return resolve(url.slice('sqlite:'.length))
}

/**
 * Creates a missing file and its folder, but no parent folders: a mistyped path must fail. Only this user may read them,
 * because they contain hashes of credentials.
 */
function createFile(path: string): void {
  const folder = dirname(path)
  try {
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const why = code === 'ENOENT' ? `there is no folder ${dirname(folder)}` : `the folder cannot be used (${code})`
    throw new StoreError('unreachable', `${path}: cannot make the store; ${why}`, { cause: error })
  }
}

/** The migrations that a file lacks; all of them where it is missing. Refuses a file that is not ours or is newer. */
function pendingMigrations(path: string): Migration[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats?.isDirectory()) {
    throw new StoreError('unreachable', `${path}: this is a folder, not a file; give --database a file in it`)
  }
  if (!stats || (stats.isFile() && stats.size === 0)) return [...migrations]
  const connection = new Connection(path, { readOnly: true, busyTimeoutMilliseconds: 1_000 })
  try {
    // In one snapshot, because another process may make the store between two reads.
    connection.script('begin')
    return migrations.slice(schemaVersion(connection))
  } finally {
    connection.close()
  }
}

/** Runs each migration in a transaction, however many processes start together. */
async function migrateFile(path: string): Promise<Migration[]> {
  const connection = new Connection(path, { busyTimeoutMilliseconds: 1_000 })
  try {
    turnOnWal(connection)
    const run: Migration[] = []
    for (const migration of migrations) {
      if (await apply(connection, migration)) run.push(migration)
    }
    return run
  } finally {
    connection.close()
  }
}

async function apply(connection: Connection, migration: Migration): Promise<boolean> {
  await beginImmediate(connection)
  try {
    const wanted = schemaVersion(connection) < migration.version
    if (wanted) {
      for (const step of migration.sqlite) run(connection, step)
      connection.script(`pragma application_id = ${APPLICATION_ID}; pragma user_version = ${migration.version}`)
    }
    connection.script('commit')
    return wanted
  } catch (error) {
    connection.rollback()
    throw error
  }
}

function run(connection: Connection, step: SqliteStep): void {
  if (typeof step === 'string') connection.script(step)
  else for (const row of connection.rows(step.each)) connection.script((row as { sql: string }).sql)
}

function schemaVersion(connection: Connection): number {
  const version = Number(connection.value('pragma user_version'))
  if (connection.value('pragma application_id') !== APPLICATION_ID) {
    if (connection.value('select count(*) from sqlite_master') === 0) return 0
    throw new StoreError(
      'foreign',
      `${connection.path}: this file is not a Palmarès store; give --database another path`,
    )
  }
  if (version > SCHEMA_VERSION) {
    throw new StoreError(
      'newer',
      `${connection.path}: the store has schema ${version}, this program knows up to ${SCHEMA_VERSION}; use a newer palmares`,
    )
  }
  return version
}
