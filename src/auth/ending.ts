import type { Change, Db, Store } from '../store/store.js'

/**
 * Runs a write that ends credentials, after which every process refuses these, and still accepts from its cache all
 * others. Gives them by their SHA-256; none: nothing changed, and no process has anything to read.
 */
export function endCredentials(store: Store, work: (db: Db) => Promise<string[]>): Promise<string[]> {
  const change: Change = {}
  return store.write(change, async (db) => {
    const ended = await work(db)
    change.comptes = ended
    return ended
  })
}
