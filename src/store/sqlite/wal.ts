import { StoreError } from '../store.js'
import { Connection } from './connection.js'

const BUSY_TIMEOUT_MILLISECONDS = 1_000

/**
 * Turns WAL mode on where a file lacks it, as a copy made by `vacuum into` does: without it, readers and writers of the file
 * wait for each other. Throws `StoreError` with the reason where that fails.
 */
export function ensureWal(path: string): void {
  if (isWal(path)) return
  const connection = new Connection(path, { busyTimeoutMilliseconds: BUSY_TIMEOUT_MILLISECONDS })
  try {
    turnOnWal(connection)
  } catch (error) {
    // Another process may have turned it on in the meantime.
    if (isWal(path)) return
    if (!(error instanceof StoreError)) throw error
    const message = `${path}: the store is not in WAL mode, and turning it on fails: ${error.reason}`
    throw new StoreError(error.fault, message, { cause: error })
  } finally {
    connection.close()
  }
}

/** Throws `StoreError` where the file system has no shared memory. */
export function turnOnWal(connection: Connection): void {
  if (connection.value('pragma journal_mode = wal') === 'wal') return
  const reason = 'this file system cannot hold a WAL store; use a local disk'
  throw new StoreError('unreachable', `${connection.path}: ${reason}`, { reason })
}

function isWal(path: string): boolean {
  const connection = new Connection(path, { readOnly: true, busyTimeoutMilliseconds: BUSY_TIMEOUT_MILLISECONDS })
  try {
    return connection.value('pragma journal_mode') === 'wal'
  } finally {
    connection.close()
  }
}
