import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from './connection.js'

/** Older readers prevent the log from being truncated. Ordinary reads take less time than this. */
const READER_PATIENCE_MILLISECONDS = 2_000
const READER_RETRY_MILLISECONDS = 15

/** The size of the write-ahead log. */
export function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}

/** Moves the log into the file and truncates it. If a reader takes too long, the next call truncates it. */
export async function emptyLog(db: Connection): Promise<void> {
  const deadline = Date.now() + READER_PATIENCE_MILLISECONDS
  // Most of the log is moved without a lock. Only then is it worth taking the short lock that truncates it.
  db.value('pragma wal_checkpoint(passive)')
  while (db.value('pragma wal_checkpoint(truncate)') !== 0 && Date.now() < deadline)
    await sleep(READER_RETRY_MILLISECONDS)
}
