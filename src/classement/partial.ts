import { sql } from 'kysely'
import type { Page } from '../contract.js'
import { Problem } from '../errors.js'
import { DEFAULT_PAGE_ROWS } from '../parameters.js'
import { MAX_MEMBERS } from '../store/counted.js'
import { forRows, hidden, statement } from '../store/query.js'
import { COVERED } from '../store/reads.js'
import type { Db } from '../store/store.js'
import type { Periode, RankedRow } from './contract.js'
import { findRanked, type Ranking, rowOf } from './rank.js'

/** What a part of the ranking is about: one category, or one year or month. */
export type Part = { id_rubrique: number } | { periode: Periode }

/** The number that a part's entries are kept under in the table `classements`. */
function numberOf(part: Part): number {
  return 'periode' in part ? part.periode.annee * 100 + part.periode.mois : -part.id_rubrique
}

/** One page of a part of the ranking. Throws `resource_not_found` for a category that the portal does not have. */
export async function findPart(
  db: Db,
  part: Part,
  debut: number,
  limite = DEFAULT_PAGE_ROWS,
): Promise<Page<RankedRow>> {
  return findRanked(db, await rankingOfPart(db, part), debut, limite)
}

/** The zero-based row that a page around an author starts at. Throws `resource_not_found` for one who is not in it. */
export async function findPartAround(
  db: Db,
  part: Part,
  idAuteur: number,
  limite = DEFAULT_PAGE_ROWS,
): Promise<number> {
  const ranking = await rankingOfPart(db, part)
  const classement = numberOf(part)
  const solved = await db.all(selectSolved, { id: idAuteur })
  const counted = solved.filter(({ id_rubrique, mois }) =>
    [-id_rubrique, mois && Math.floor(mois / 100) * 100, mois].includes(classement),
  )
  if (counted.length === 0)
    throw new Problem('resource_not_found', { detail: 'This ranking has no author with this id.' })
  const points = counted.reduce((sum, { score }) => sum + score, 0)
  return Math.max(0, (await rowOf(db, points, idAuteur, ranking)) - Math.floor(limite / 2))
}

/** The counted order of a part. */
function orderOf(classement: number): string {
  return `classements/${classement}`
}

/** The ranking of a part. Throws `resource_not_found` for a category that the portal does not have. */
export async function rankingOfPart(db: Db, part: Part): Promise<Ranking> {
  if ('id_rubrique' in part && !(await db.get(selectRubrique, { id: part.id_rubrique }))) {
    throw new Problem('resource_not_found', { detail: 'The portal has no category with this id.' })
  }
  const classement = numberOf(part)
  return {
    arbre: orderOf(classement),
    read: (db, { cle, id }, rows) => db.all(selectRanked(rows), { classement, cle, id }),
    countInLeaf: (db, { cle, id }, to) => db.get(countInLeaf, { classement, cle, id, cleFin: to.cle, idFin: to.id }),
  }
}

const selectRubrique = statement<{ id: number }>({ rubriques: { id_rubrique: 'id' } })((q, p) =>
  q.selectFrom('rubriques').select('id_rubrique').where('id_rubrique', '=', p.id),
)

/** What an author who holds a place has solved. The place beside it covers the points: it lies where they do. */
const selectSolved = statement<{ id: number }>({ ...COVERED, validations: { id_auteur: 'id' } })((q, p) =>
  q
    .selectFrom('validations')
    .innerJoin('challenges', 'challenges.id_challenge', 'validations.id_challenge')
    .innerJoin('auteurs', 'auteurs.id_auteur', 'validations.id_auteur')
    .select(['id_rubrique', 'mois', 'challenges.score'])
    .where('validations.id_auteur', '=', p.id)
    .where('cle_classement', 'is not', null),
)

const selectRanked = forRows((rows) =>
  statement<{ classement: number; cle: number; id: number }>(COVERED)((q, p) =>
    q
      .selectFrom('classements')
      .innerJoin('auteurs', 'auteurs.id_auteur', 'classements.id_auteur')
      .select(['classements.id_auteur', 'nom', sql<number>`-cle`.as('score')])
      .where('classement', '=', hidden(q, p.classement))
      .where(sql<boolean>`(cle, classements.id_auteur) >= (${hidden(q, p.cle)}, ${hidden(q, p.id)})`)
      .orderBy('cle')
      .orderBy('classements.id_auteur')
      .limit(rows),
  ),
)

const countInLeaf = statement<{ classement: number; cle: number; id: number; cleFin: number; idFin: number }>(COVERED)(
  (q, p) =>
    q
      .selectFrom(
        q
          .selectFrom('classements')
          .select(['cle', 'id_auteur'])
          .where('classement', '=', hidden(q, p.classement))
          .where(sql<boolean>`(cle, id_auteur) >= (${hidden(q, p.cle)}, ${hidden(q, p.id)})`)
          .orderBy('cle')
          .orderBy('id_auteur')
          .limit(sql.lit(MAX_MEMBERS))
          .as('feuille'),
      )
      .select(({ fn }) => fn.countAll<number>().as('nb'))
      .where(sql<boolean>`(cle, id_auteur) < (${p.cleFin}, ${p.idFin})`),
)
