import { migrations, SCHEMA_VERSION } from '../migrations/index.js'
import type { Migration } from '../migrations/migration.js'
import type { MigrateOptions } from '../opening.js'
import { StoreError } from '../store.js'
import type { Address } from './address.js'
import { type Client, withClient } from './driver.js'
import { refusePooler } from './pooler.js'
import { createSearchIndexes, findSearchIndexes, SEARCH_INDEXES } from './search.js'
import { notPrimary } from './server.js'
import { LOCK_SPACE, SCHEMA_LOCK } from './transaction.js'

/** The oldest server that this program is tested with. */
const MIN_SERVER_VERSION = 15
/** A look at a database is short; a migration takes what it takes. */
const LOOK_MILLISECONDS = 10_000

/** What a database holds. */
export interface Schema {
  /** The migrations that it lacks. */
  pending: Migration[]
  /** Whether search has all its indexes. */
  hasSearch: boolean
  /** Whether an older store has none, because it was made without them. */
  lacksSearch: boolean
}

/** Looks at a database and changes nothing. Throws `StoreError` for one that this program cannot use. */
export function inspect(address: Address): Promise<Schema> {
  const look = async (client: Client) => {
    await refusePooler(address, client)
    return schemaOf(address, client)
  }
  return withClient(address, look, { answer: LOOK_MILLISECONDS })
}

/**
 * Brings a database to this program's schema: each migration in a transaction, one node at a time, however many start
 * together. The extension for search comes first, so that a user who may not make it changes nothing.
 */
export function runMigrations(address: Address, options: MigrateOptions): Promise<Migration[]> {
  return withClient(address, async (client) => {
    await refusePooler(address, client)
    const { pending, hasSearch } = await schemaOf(address, client)
    const isWanted = !options.withoutTrigrams && !hasSearch
    if (pending.length === 0 && !isWanted) return []
    // Waits for the other nodes that migrate; the lock goes with the connection.
    await client.query('select pg_advisory_lock($1, $2)', [LOCK_SPACE, SCHEMA_LOCK])
    const run: Migration[] = []
    await client.query('begin')
    if (isWanted) await createExtension(address, client)
    for (const migration of (await schemaOf(address, client)).pending) {
      await apply(client, migration)
      run.push(migration)
      await client.query('commit; begin')
    }
    if (isWanted) await createSearchIndexes(client)
    await client.query('commit')
    return run
  })
}

async function apply(client: Client, { version, nom, postgres }: Migration): Promise<void> {
  for (const sql of postgres) await client.query(sql)
  await client.query('insert into palmares_schema (version, nom) values ($1, $2)', [version, nom])
}

async function createExtension(address: Address, client: Client): Promise<void> {
  try {
    await client.query('create extension if not exists pg_trgm')
  } catch (error) {
    const { code = '' } = error as { code?: string }
    // Not allowed; or its files are not installed beside the server.
    if (!['42501', '0A000', '58P01'].includes(code)) throw error
    const why =
      code === '42501' ? `the user ${JSON.stringify(address.user)} may not create` : 'the server does not have'
    throw new StoreError(
      'denied',
      `${address.shown}: ${why} the extension pg_trgm, which search needs; have an administrator run \`create extension pg_trgm\` there, or run \`palmares migrate --without-pg-trgm\` for a slower search`,
      { cause: error },
    )
  }
}

async function schemaOf(address: Address, client: Client): Promise<Schema> {
  const { rows } = await client.query<Found>(FOUND, [OUR_TABLES])
  const found = rows[0] as Found
  const fault = serverFault(address, found)
  if (fault) throw fault
  if (!found.schema) {
    if (found.tables.length === 0) return { pending: [...migrations], hasSearch: false, lacksSearch: false }
    throw new StoreError(
      'foreign',
      `${address.shown}: the database has a table ${found.tables[0]} that is not of Palmarès; give --database another one`,
    )
  }
  const { rows: applied } = await client.query<{ version: number }>(
    'select version from palmares_schema order by version',
  )
  const version = applied.at(-1)?.version ?? 0
  if (version > SCHEMA_VERSION) {
    throw new StoreError(
      'newer',
      `${address.shown}: the store has schema ${version}, this program knows up to ${SCHEMA_VERSION}; use a newer palmares`,
    )
  }
  const missing = OUR_TABLES.filter((table) => !found.tables.includes(table))
  if (version === SCHEMA_VERSION && missing.length > 0)
    throw halfMigrated(address, `the table ${missing[0]} is missing`)
  if (applied.length !== version)
    throw halfMigrated(address, `schema ${version}, but ${applied.length} migrations are recorded`)
  const indexes = version > 0 ? (await findSearchIndexes(client)).length : 0
  return {
    pending: migrations.slice(version),
    hasSearch: indexes === SEARCH_INDEXES.length,
    lacksSearch: version > 0 && indexes === 0,
  }
}

function serverFault(address: Address, found: Found): StoreError | undefined {
  const major = Math.floor(found.server / 10_000)
  if (major < MIN_SERVER_VERSION) {
    const message = `${address.shown}: this is PostgreSQL ${major}; use ${MIN_SERVER_VERSION} or newer`
    return new StoreError('unsupported', message)
  }
  if (found.encoding !== 'UTF8') {
    const message = `${address.shown}: the database has the encoding ${found.encoding}; make one with \`createdb --encoding=UTF8\``
    return new StoreError('unsupported', message)
  }
  return found.isReplica ? notPrimary(address) : undefined
}

function halfMigrated(address: Address, what: string): StoreError {
  return new StoreError(
    'corrupt',
    `${address.shown}: the schema is incomplete: ${what}; restore a backup, or import a dump into a new database`,
  )
}

interface Found {
  server: number
  encoding: string
  isReplica: boolean
  /** Whether the table of migrations is there. */
  schema: boolean
  /** Those of our tables that are there. */
  tables: string[]
}

/** The tables that the migrations make, besides their own. */
const OUR_TABLES = migrations
  .flatMap(({ postgres }) => postgres)
  .flatMap((sql) => /^create table (\w+)/.exec(sql)?.[1] ?? [])
  .filter((table) => table !== 'palmares_schema')

const FOUND = `select current_setting('server_version_num')::int as server, current_setting('server_encoding') as encoding,
  pg_is_in_recovery() as "isReplica", to_regclass('palmares_schema') is not null as schema,
  array(select nom from unnest($1::text[]) as nom where to_regclass(nom) is not null order by nom) as tables`
