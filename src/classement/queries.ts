import { sql } from 'kysely'
import type { Page } from '../contract.js'
import { Problem } from '../errors.js'
import { DEFAULT_PAGE_ROWS } from '../parameters.js'
import { forRows, hidden, statement } from '../store/query.js'
import { COVERED } from '../store/reads.js'
import type { Db } from '../store/store.js'
import type { RankedRow } from './contract.js'
import { findRanked, type Ranking, rowOf, wholeOrder } from './rank.js'

export const whole: Ranking = {
  ...wholeOrder,
  read: (db, { cle, id }, rows) => db.all(selectRanked(rows), { cle, id }),
}

/** One page of the ranking, from a zero-based row on. */
export function findClassement(db: Db, debut: number, limite = DEFAULT_PAGE_ROWS): Promise<Page<RankedRow>> {
  return findRanked(db, whole, debut, limite)
}

/** The zero-based row that a page around an author starts at. Throws `resource_not_found` for one who holds no place. */
export async function findRowAround(db: Db, idAuteur: number, limite = DEFAULT_PAGE_ROWS): Promise<number> {
  const auteur = await db.get(selectRankedAuteur, { id: idAuteur })
  if (!auteur) throw new Problem('resource_not_found', { detail: 'The ranking has no author with this id.' })
  return Math.max(0, (await rowOf(db, auteur.score, idAuteur)) - Math.floor(limite / 2))
}

const selectRanked = forRows((rows) =>
  statement<{ cle: number; id: number }>(COVERED)((q, p) =>
    q
      .selectFrom('auteurs')
      .select(['id_auteur', 'nom', sql<number>`-cle_classement`.as('score')])
      .where(sql<boolean>`(cle_classement, id_auteur) >= (${hidden(q, p.cle)}, ${hidden(q, p.id)})`)
      .orderBy('cle_classement')
      .orderBy('id_auteur')
      .limit(rows),
  ),
)

/** The place beside it covers the score: it lies where the score does. */
const selectRankedAuteur = statement<{ id: number }>({ ...COVERED, auteurs: { id_auteur: 'id' } })((q, p) =>
  q.selectFrom('auteurs').select('score').where('id_auteur', '=', p.id).where('cle_classement', 'is not', null),
)
