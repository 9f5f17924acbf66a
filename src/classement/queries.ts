import { sql } from 'kysely'
import { countedPage, type Page } from '../contract.js'
import { found, Problem } from '../errors.js'
import { UNKNOWN_DATE } from '../instant.js'
import { DEFAULT_PAGE_ROWS } from '../parameters.js'
import { classement, classements, groupes } from '../store/orders.js'
import { statement } from '../store/query.js'
import { COVERED } from '../store/reads.js'
import { TIES_BY_DATE } from '../store/settings.js'
import type { Db } from '../store/store.js'
import type { Periode, RankedRow } from './contract.js'
import { findAmong, type Ranking, type Scored } from './rank.js'

/** What a part of the ranking is about: one category, one year or month, or one group in lower case. */
export type Part = Earned | { groupe: string }
/** A part that counts some points only. */
type Earned = { id_rubrique: number } | { periode: Periode }

/** The ranking of a part, or the whole one. Throws `resource_not_found` for a category that the portal does not have. */
export async function rankingOf(db: Db, part: Part | undefined): Promise<Ranking> {
  if (!part) return classement
  if ('groupe' in part) return groupes.of(part.groupe)
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
  const auteur = await (part && !('groupe' in part)
    ? findEarned(db, part, idAuteur)
    : findWhole(db, part?.groupe, idAuteur))
  if (!auteur) throw notRanked(part ? 'This' : 'The')
  return debutAround(await ranking.rank(db, { ...ranking.keyOf(auteur), id: idAuteur }), limite)
}

/**
 * A page of some authors, ranked among themselves, from a row or around one of them. Throws `resource_not_found` for an author
 * who is not one of them or holds no place.
 */
export async function findPageAmong(
  db: Db,
  ids: readonly number[],
  { debut = 0, autour_de, limite = DEFAULT_PAGE_ROWS }: Asked,
): Promise<Page<RankedRow>> {
  const ranked = await findAmong(db, ids)
  const own = ranked.findIndex(({ id_auteur }) => id_auteur === autour_de)
  if (autour_de !== undefined && own < 0) throw notRanked('This')
  const first = autour_de === undefined ? debut : debutAround(own, limite)
  return countedPage(ranked.slice(first, first + limite), first, limite, ranked.length)
}

interface Asked {
  debut?: number | undefined
  autour_de?: number | undefined
  limite?: number | undefined
}

function debutAround(row: number, limite: number): number {
  return Math.max(0, row - Math.floor(limite / 2))
}

function notRanked(which: 'The' | 'This'): Problem {
  return new Problem('resource_not_found', { detail: `${which} ranking has no author with this id.` })
}

/** The score of an author who holds a place, if of this group, and what breaks a tie. */
async function findWhole(db: Db, groupe: string | undefined, id: number): Promise<Scored | undefined> {
  const auteur = await db.get(selectRanked, { id })
  return groupe === undefined || auteur?.groupe_cle === groupe ? auteur : undefined
}

/** The points that an author earned in a part, and what breaks a tie there; undefined without a place there. */
async function findEarned(db: Db, part: Earned, idAuteur: number): Promise<Scored | undefined> {
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
function numberOf(part: Earned): number {
  return 'periode' in part ? part.periode.annee * 100 + part.periode.mois : -part.id_rubrique
}

const selectRubrique = statement<{ id: number }>({ rubriques: { id_rubrique: 'id' } })((q, p) =>
  q.selectFrom('rubriques').select('id_rubrique').where('id_rubrique', '=', p.id),
)

/** The rank beside it covers the score: it lies where the score does. */
const selectRanked = statement<{ id: number }>({ ...COVERED, auteurs: { id_auteur: 'id' } })((q, p) =>
  q
    .selectFrom('auteurs')
    .select(['score', 'date_classement as date', 'groupe_cle'])
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
