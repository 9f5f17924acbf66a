/** The only file that names the SQLite driver: what node:sqlite calls DatabaseSync, prebuilt for every Node we support. */
import { DatabaseSync } from '@photostructure/sqlite'
import { StoreError, type StoreFault } from '../store.js'

export type { StatementSyncInstance as DriverStatement } from '@photostructure/sqlite'
export type Driver = InstanceType<typeof DatabaseSync>

export interface OpenOptions {
  readOnly?: boolean
  /** How long a statement may wait, blocking, for a lock. */
  busyTimeoutMilliseconds: number
}

export function openDriver(path: string, options: OpenOptions): Driver {
  return translate(path, () => {
    const driver = new DatabaseSync(path, {
      readOnly: options.readOnly ?? false,
      timeout: options.busyTimeoutMilliseconds,
      enableForeignKeyConstraints: true,
    })
    driver.enableDefensive(true)
    return driver
  })
}

/** Runs a driver call and turns what an operator can act on into a `StoreError`; anything else passes as it is. */
export function translate<T>(path: string, call: () => T): T {
  try {
    return call()
  } catch (error) {
    throw toStoreError(path, error) ?? error
  }
}

function toStoreError(path: string, error: unknown): StoreError | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && error.code === 'ERR_INVALID_STATE') {
    return new StoreError('unreachable', `${path}: the store is closed`, { cause: error })
  }
  if (!('errcode' in error) || typeof error.errcode !== 'number') return undefined
  const known = faults[error.errcode & 0xff]
  return known && new StoreError(known.fault, `${path}: ${known.message}`, { cause: error, reason: known.message })
}

/** SQLite's primary result codes, https://sqlite.org/rescode.html. */
const faults: Record<number, { fault: StoreFault; message: string }> = {
  5: { fault: 'busy', message: 'the store is locked by another process; try again when it has finished' },
  6: { fault: 'busy', message: 'the store is locked by another process; try again when it has finished' },
  8: { fault: 'readonly', message: 'the store is read-only; make the file and its folder writable for this user' },
  10: { fault: 'unreachable', message: 'the disk gave an error; look at the system log and the free space' },
  11: { fault: 'corrupt', message: 'the store is damaged; restore a copy made by `palmares backup`' },
  13: { fault: 'full', message: 'the disk is full; free some space' },
  14: {
    fault: 'unreachable',
    message: 'cannot open the file; check that its folder exists and that this user may use it',
  },
  26: { fault: 'foreign', message: 'this file is not a Palmarès store; give --database another path' },
}
