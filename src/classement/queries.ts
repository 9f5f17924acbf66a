import { Problem } from '../errors.js'
import { DEFAULT_PAGE_ROWS } from '../parameters.js'
import { classement, classements } from '../store/orders.js'
import { statement } from '../store/query.js'
import type { Db } from '../store/store.js'
import type { Periode } from './contract.js'
import type { Ranking } from './rank.js'

/** What a part of the ranking is about: one category, or one year or month. */
export type Part = { id_rubrique: number } | { periode: Periode }

/** The ranking of a part, or the whole one. Throws `resource_not_found` for a category that the portal does not have. */
export async function rankingOf(db: Db, part: Part | undefined): Promise<Ranking> {
  if (!part) return classement
  if ('id_rubrique' in part && !(await db.get(selectRubrique, { id: part.id_rubrique }))) {
    throw new Problem('resource_not_found', { detail: 'The portal has no category with this id.' })
  }
  return classements.of(numberOf(part))
}

/** The zero-based row that a page around an author starts at. Throws `resource_not_found` for one who holds no place there. */
export async function findDebutAround(
  db: Db,
  part: Part | undefined,
  ranking: Ranking,
  idAuteur: number,
  limite = DEFAULT_PAGE_ROWS,
): Promise<number> {
  const auteur = part ? await findInPart(db, part, idAuteur) : await db.get(selectRanked, { id: idAuteur })
  if (!auteur) {
    const detail = `${part ? 'This' : 'The'} ranking has no author with this id.`
    throw new Problem('resource_not_found', { detail })
  }
  const row = await ranking.rank(db, { ...ranking.keyOf(auteur), id: idAuteur })
  return Math.max(0, row - Math.floor(limite / 2))
}

/** The points that an author earned in a part; undefined without a place there. */
async function findInPart(db: Db, part: Part, idAuteur: number): Promise<{ score: number } | undefined> {
  const solved = await db.all(selectSolved, { id: idAuteur })
  const counted = solved.filter(({ id_rubrique, mois }) =>
    [-id_rubrique, mois && Math.floor(mois / 100) * 100, mois].includes(numberOf(part)),
  )
  return counted.length > 0 ? { score: counted.reduce((sum, { score }) => sum + score, 0) } : undefined
}

/** The number of a part in the table `classements`. */
function numberOf(part: Part): number {
  return 'periode' in part ? part.periode.annee * 100 + part.periode.mois : -part.id_rubrique
}

const selectRubrique = statement<{ id: number }>()((q, p) =>
  q.selectFrom('rubriques').select('id_rubrique').where('id_rubrique', '=', p.id),
)

const selectRanked = statement<{ id: number }>()((q, p) =>
  q.selectFrom('auteurs').select('score').where('id_auteur', '=', p.id).where('cle_classement', 'is not', null),
)

/** What an author who holds a place has solved. */
const selectSolved = statement<{ id: number }>()((q, p) =>
  q
    .selectFrom('validations')
    .innerJoin('challenges', 'challenges.id_challenge', 'validations.id_challenge')
    .innerJoin('auteurs', 'auteurs.id_auteur', 'validations.id_auteur')
    .select(['id_rubrique', 'mois', 'challenges.score'])
    .where('validations.id_auteur', '=', p.id)
    .where('cle_classement', 'is not', null),
)
