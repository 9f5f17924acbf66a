import { fixed } from '../store/query.js'
import type { Db } from '../store/store.js'
import type { PeriodeRow } from './contract.js'

/** A hundred years with all their months. */
const MAX_PERIODES = 1_300

/** The years that have a ranking, latest first, with their months. Each is sought in the index, whatever the portal's size. */
export async function findPeriodes(db: Db): Promise<PeriodeRow[]> {
  const byYear = new Map<number, number[]>()
  for (const { classement } of await db.all(selectPeriodes, {})) {
    const annee = Math.floor(classement / 100)
    const mois = byYear.get(annee) ?? []
    if (classement % 100 > 0) mois.unshift(classement % 100)
    byYear.set(annee, mois)
  }
  return [...byYear].map(([annee, mois]) => ({ annee, mois }))
}

/** From the highest number of a ranking down to the next lower one, again and again; categories have negative ones. */
const selectPeriodes = fixed<{ classement: number }>(
  `with recursive periodes(classement, n) as (
     select max(classement), 1 from classements
     union all
     select (select max(c.classement) from classements c where c.classement < p.classement), n + 1 from periodes p
     where p.classement >= 0 and n < ${MAX_PERIODES}
   ) select classement from periodes where classement >= 0 order by classement desc`,
)
