import { sql } from 'kysely'
import { found, Problem } from '../errors.js'
import { UNKNOWN_DATE } from '../instant.js'
import { DEFAULT_PAGE_ROWS } from '../parameters.js'
import { classement, classements } from '../store/orders.js'
import { statement } from '../store/query.js'
import { COVERED } from '../store/reads.js'
import { TIES_BY_DATE } from '../store/settings.js'
import type { Db } from '../store/store.js'
import type { Periode } from './contract.js'
import type { Ranking } from './rank.js'

/** What a part of the ranking is about: one category, or one year or month. */
export type Part = { id_rubrique: number } | { periode: Periode }

/** The ranking of a part, or the whole one. Throws `resource_not_found` for a category that the portal does not have. */
export async function rankingOf(db: Db, part: Part | undefined): Promise<Ranking> {
  if (!part) return classement
  if ('id_rubrique' in part) found(await db.get(selectRubrique, { id: part.id_rubrique }), 'category')
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

/** The points that an author earned in a part, and what breaks a tie there; undefined without a place there. */
async function findInPart(db: Db, part: Part, idAuteur: number): Promise<{ score: number; date: number } | undefined> {
  const solved = await db.all(selectSolved, { id: idAuteur })
  const counted = solved.filter(({ id_rubrique, mois }) =>
    [-id_rubrique, mois && Math.floor(mois / 100) * 100, mois].includes(numberOf(part)),
  )
  const [first] = counted
  if (!first) return undefined
  const dates = counted.filter(({ score, date }) => score > 0 && date < UNKNOWN_DATE).map(({ date }) => date)
  const reached = dates.reduce((latest, date) => Math.max(latest, date), Number.NEGATIVE_INFINITY)
  return {
    score: counted.reduce((sum, { score }) => sum + score, 0),
    date: first.breaks_ties ? (dates.length > 0 ? reached : UNKNOWN_DATE) : 0,
  }
}

/** The number of a part in the table `classements`. */
function numberOf(part: Part): number {
  return 'periode' in part ? part.periode.annee * 100 + part.periode.mois : -part.id_rubrique
}

const selectRubrique = statement<{ id: number }>({ rubriques: { id_rubrique: 'id' } })((q, p) =>
  q.selectFrom('rubriques').select('id_rubrique').where('id_rubrique', '=', p.id),
)

/** The rank beside it covers the score: it lies where the score does. */
const selectRanked = statement<{ id: number }>({ ...COVERED, auteurs: { id_auteur: 'id' } })((q, p) =>
  q
    .selectFrom('auteurs')
    .select(['score', 'date_classement as date'])
    .where('id_auteur', '=', p.id)
    .where('cle_classement', 'is not', null),
)

/** What an author who holds a place has solved. The rank beside it covers the points: it lies where they do. */
const selectSolved = statement<{ id: number }>({ ...COVERED, validations: { id_auteur: 'id' } })((q, p) =>
  q
    .selectFrom('validations')
    .innerJoin('challenges', 'challenges.id_challenge', 'validations.id_challenge')
    .innerJoin('auteurs', 'auteurs.id_auteur', 'validations.id_auteur')
    .select(['id_rubrique', 'mois', 'challenges.score', 'validations.date'])
    .select(sql<number | boolean>`${sql.raw(TIES_BY_DATE)}`.as('breaks_ties'))
    .where('validations.id_auteur', '=', p.id)
    .where('cle_classement', 'is not', null),
)
