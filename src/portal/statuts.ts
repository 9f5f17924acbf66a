import { EVERYTHING } from '../store/journal.js'
import type { Db, Store } from '../store/store.js'
import { derivePoints, deriveRankings, deriveScores, hiddenStatuts } from './derive.js'

/** Sets what the ranking hides, sorted and in lower case, and recomputes the rankings in one transaction. Returns whether it changed. */
export async function setHiddenStatuts(store: Store, statuts: readonly string[]): Promise<boolean> {
  const { changed } = await store.bulk(
    { withAccounts: false },
    async () => undefined,
    async (db) => {
      const changed = !(await hidesAlready(db, statuts))
      if (changed) {
        await db.exec('update etat set statuts_masques = ?', JSON.stringify(statuts))
        await derivePoints(db)
        await deriveScores(db)
        await deriveRankings(db)
      }
      return { change: changed ? { donnees: EVERYTHING } : {}, changed }
    },
  )
  return changed
}

/** Whether `setHiddenStatuts` would change nothing. */
export async function hidesAlready(db: Db, statuts: readonly string[]): Promise<boolean> {
  return JSON.stringify(await hiddenStatuts(db)) === JSON.stringify(statuts)
}
