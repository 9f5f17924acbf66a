import { setTimeout as sleep } from 'node:timers/promises'
import type { JournalEntry } from '../changes.js'
import { noteEnded } from '../ended.js'
import { appendJournal } from '../journal.js'
import { type Change, endedBy, StoreError } from '../store.js'
import type { SqliteDb } from './db.js'

export const WRITER_PATIENCE_MILLISECONDS = 5_000
const WRITER_RETRY_MILLISECONDS = 15

/** Runs a work in a transaction, with its change of versions; waits for the lock until the deadline. */
export async function transaction<T>(
  db: SqliteDb,
  work: () => Promise<{ value: T; change: Change }>,
  deadline = Date.now() + WRITER_PATIENCE_MILLISECONDS,
): Promise<T> {
  await beginImmediate(db, deadline)
  try {
    const { value, change } = await work()
    if (change.donnees?.length) await moveData(db, change.donnees)
    const ended = endedBy(change)
    if (ended) await moveAccounts(db, ended)
    await db.change('commit')
    return value
  } catch (error) {
    await db.rollback()
    throw error
  }
}

async function moveData(db: SqliteDb, entries: readonly JournalEntry[]): Promise<void> {
  const state = await db.row('select version_donnees as last from etat')
  await db.change('update etat set version_donnees = ?', [await appendJournal(db, entries, Number(state?.last))])
}

async function moveAccounts(db: SqliteDb, ended: true | readonly string[]): Promise<void> {
  const state = await db.row('select version_comptes as last from etat')
  const before = Number(state?.last)
  await db.change('update etat set version_comptes = ?', [before + 1])
  await noteEnded(db, { before, version: before + 1 }, ended)
}

/** Takes the write lock, trying until the deadline and once at least, or throws `StoreError` `busy`. */
export async function beginImmediate(
  db: SqliteDb,
  deadline = Date.now() + WRITER_PATIENCE_MILLISECONDS,
): Promise<void> {
  for (;;) {
    try {
      await db.change('begin immediate')
      return
    } catch (error) {
      if (!(error instanceof StoreError) || error.fault !== 'busy' || Date.now() >= deadline) throw error
      await sleep(WRITER_RETRY_MILLISECONDS)
    }
  }
}
