import { sql } from 'kysely'
import { statement } from '../store/query.js'
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
const selectPeriodes = statement()((q) =>
  q
    .withRecursive('periodes(classement, n)', (q) =>
      q
        .selectFrom('classements')
        .select([sql<number>`max(classement)`.as('classement'), sql<number>`1`.as('n')])
        .unionAll(
          q
            .selectFrom('periodes')
            .select((periode) => [
              periode
                .selectFrom('classements')
                .select(sql<number>`max(classements.classement)`.as('classement'))
                .whereRef('classements.classement', '<', 'periodes.classement')
                .$asScalar()
                .$notNull()
                .as('classement'),
              sql<number>`n + 1`.as('n'),
            ])
            .where('periodes.classement', '>=', sql.lit(0))
            .where('n', '<', sql.lit(MAX_PERIODES)),
        ),
    )
    .selectFrom('periodes')
    .select('classement')
    .where('classement', '>=', sql.lit(0))
    .orderBy('classement', 'desc'),
)
