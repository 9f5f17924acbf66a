import { type BulkOptions, type Change, type Db, mergeAll } from '../store.js'
import { Aside, type AsideLimits, dropLeftovers, Overtaken } from './aside.js'
import { type Connection, openWriter } from './connection.js'
import { emptyLog } from './log.js'
import { transaction } from './transaction.js'

type Merge<T> = (db: Db) => Promise<T>

/** Smaller imports are merged in place: their log stays short. */
const MIN_ASIDE_BYTES = 8 * 1024 * 1024
/** So are imports much smaller than the portal: rewriting it would cost more. */
const MAX_ASIDE_RATIO = 8
const TEMPORARY_CACHE_KIB = 32 * 1024

export interface BulkLimits extends AsideLimits {
  /** Whether the data are merged aside. */
  isAside(db: Connection, options: BulkOptions): boolean
}

const LIMITS: BulkLimits = { isAside: isLarge, maxLogBytes: 32 * 1024 * 1024, cacheKib: 32 * 1024 }

/** `Store.bulk` on a connection of its own, whose temporary tables go with it. */
export async function bulk<T extends { change: Change }>(
  path: string,
  options: BulkOptions,
  stage: (db: Db) => Promise<void>,
  merge: Merge<T>,
  limits = LIMITS,
): Promise<T> {
  const db = openWriter(path)
  try {
    db.script(`pragma temp_store = file; pragma temp.cache_size = -${TEMPORARY_CACHE_KIB}; pragma foreign_keys = off`)
    await dropLeftovers(db)
    db.change('begin')
    await stage(db)
    db.change('commit')
    const merged = limits.isAside(db, options) ? await mergeAside(db, limits, options, merge) : undefined
    const result = merged ?? (await mergeInPlace(db, options, merge))
    await emptyLog(db)
    return result
  } finally {
    db.close()
  }
}

/** Whether what is to be written is much, and no small part of the portal. */
function isLarge(db: Connection, { rewritesAll }: BulkOptions): boolean {
  const bytes = (schema: string) =>
    Number(db.value(`pragma ${schema}.page_count`)) * Number(db.value(`pragma ${schema}.page_size`))
  const written = bytes(rewritesAll ? 'main' : 'temp')
  return written >= MIN_ASIDE_BYTES && written * MAX_ASIDE_RATIO >= bytes('main')
}

/** All in one transaction, which keeps other writers out and stands in the log whole. */
async function mergeInPlace<T extends { change: Change }>(
  db: Connection,
  options: BulkOptions,
  merge: Merge<T>,
): Promise<T> {
  db.script('pragma foreign_keys = on')
  return transaction(db, () => mergeAll(db, options, merge))
}

/** Merges the data on a copy, with no lock; undefined where somebody else has changed them meanwhile. */
async function mergeAside<T extends { change: Change }>(
  db: Connection,
  limits: AsideLimits,
  { mergeData, onStage }: BulkOptions,
  merge: Merge<T>,
): Promise<T | undefined> {
  const aside = new Aside(db, limits)
  try {
    aside.copy((done, of) => onStage?.('copy', done, of))
    db.change('begin')
    const isChanged = (await mergeData?.(db)) === true
    db.change('commit')
    if (isChanged) await aside.fill((done, of) => onStage?.('fill', done, of))
    aside.forget()
    onStage?.('commit', 0, 1)
    return await transaction(db, async () => {
      aside.checkCurrent()
      if (isChanged) aside.swap()
      const value = await merge(db)
      aside.checkAccounts()
      return { value, change: value.change }
    })
  } catch (error) {
    db.rollback()
    aside.forget()
    // Where this fails too, the next import does it.
    await aside.drop().catch(() => undefined)
    if (error instanceof Overtaken) return undefined
    throw error
  }
}
