import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from './connection.js'

/** Readers that began before all of the log was moved keep it from being emptied; for an answer they take less. */
const READER_PATIENCE_MILLISECONDS = 2_000
const READER_RETRY_MILLISECONDS = 15

/** The size of the write-ahead log. */
export function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}

/** Moves the log into the file and cuts it to nothing, or leaves that to the next where a reader takes its time. */
export async function emptyLog(db: Connection): Promise<void> {
  const deadline = Date.now() + READER_PATIENCE_MILLISECONDS
  // Most of the log is moved with no lock; only then is it worth asking for the short one that empties the file.
  db.value('pragma wal_checkpoint(passive)')
  while (db.value('pragma wal_checkpoint(truncate)') !== 0 && Date.now() < deadline)
    await sleep(READER_RETRY_MILLISECONDS)
}
