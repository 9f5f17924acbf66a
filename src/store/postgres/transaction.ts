import { noteEnded } from '../ended.js'
import { appendJournal } from '../journal.js'
import { type Change, type Db, type Domain, endedBy, StoreError, type Versions } from '../store.js'
import type { Connection } from './connection.js'

/** How long a write waits for another writer of its domain. */
export const LOCK_MILLISECONDS = 5_000
/** The server ends a write transaction that is idle for this long, which releases its locks. */
const SILENT_WRITER_MILLISECONDS = 10_000

/** The keys of the locks that writers take: "PLMS" in ASCII, and a number for each domain. */
export const LOCK_SPACE = 0x504c4d53
export const SCHEMA_LOCK = 3
const LOCKS: Readonly<Record<Domain, number>> = { comptes: 1, donnees: 2 }

export interface TransactionOptions {
  /** What other writers are kept out of. */
  domains: readonly Domain[]
  lockMilliseconds?: number
  /** More settings of this transaction, in SQL. */
  settings?: readonly string[]
}

/** Runs one transaction after other writers of its domains, and moves the versions with it. Returns the versions. */
export async function transaction<T>(
  db: Connection,
  { domains, lockMilliseconds = LOCK_MILLISECONDS, settings = [] }: TransactionOptions,
  work: () => Promise<{ value: T; change: Change }>,
): Promise<{ value: T; versions: Versions }> {
  const begin = [
    'begin',
    `set local lock_timeout = ${lockMilliseconds}`,
    `set local idle_in_transaction_session_timeout = ${SILENT_WRITER_MILLISECONDS}`,
    ...settings,
    ...domains.map((domain) => `select pg_advisory_xact_lock(${LOCK_SPACE}, ${LOCKS[domain]})`),
  ]
  try {
    await db.query({ text: begin.join('; ') })
    const { value, change } = await work()
    const versions = await moveVersions(db, change)
    await db.query({ text: 'commit' })
    return { value, versions }
  } catch (error) {
    db.query({ text: 'rollback' }).catch(() => undefined)
    throw error
  }
}

/** Moves the versions of a transaction, and notifies every listening node at commit. */
async function moveVersions(db: Db, change: Change): Promise<Versions> {
  const { donnees = [] } = change
  const ended = endedBy(change)
  const [versions] = await db.select<Versions & { before: number }>(
    movesVersions(change)
      ? `with etat_avant as (select version_comptes as before from etat), moved as (
           update etat set version_donnees = ${next('donnees', donnees.length > 0)}, version_comptes = ${next('comptes', ended !== undefined)}
           returning version_donnees as donnees, version_comptes as comptes)
         select donnees, comptes, before, pg_notify('${CHANNEL_PREFIX}' || current_schema(), '') from moved, etat_avant`
      : 'select version_donnees as donnees, version_comptes as comptes from etat',
  )
  if (!versions) throw new StoreError('corrupt', 'the table etat is empty; restore a backup')
  if (ended) await noteEnded(db, { before: versions.before, version: versions.comptes }, ended)
  if (donnees.length === 0) return { donnees: versions.donnees, comptes: versions.comptes }
  const newest = await appendJournal(db, donnees, versions.donnees)
  await db.exec('update etat set version_donnees = ?', newest)
  return { donnees: newest, comptes: versions.comptes }
}

export function movesVersions(change: Change): boolean {
  return (change.donnees ?? []).length > 0 || endedBy(change) !== undefined
}

/** The channel includes the schema, because one database may have a portal in each of several schemas. */
export const CHANNEL_PREFIX = 'palmares_'

/** Versions are clock microseconds. So a promoted replica never reuses a version that was lost with the old primary. */
function next(kind: 'donnees' | 'comptes', isMoved: boolean): string {
  const column = `version_${kind}`
  return isMoved ? `greatest(${column} + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint)` : column
}
