import { type SelectQueryBuilder, sql } from 'kysely'
import { countedPage, type Page } from '../contract.js'
import { found } from '../errors.js'
import { UNKNOWN_DATE } from '../instant.js'
import { challenges } from '../model/kinds.js'
import { DEFAULT_PAGE_ROWS } from '../parameters.js'
import { findPage, padded } from '../store/list.js'
import { validations } from '../store/orders.js'
import { type Builder, byRows, statement } from '../store/query.js'
import type { Db } from '../store/store.js'
import type { Tables } from '../store/tables.js'
import type { ChallengeItemRow, ChallengeRow, ChallengeTitleRow, ValidationRow } from './contract.js'

export interface ChallengeFilters {
  /** Folded. */
  titre?: string | undefined
  soustitre?: string | undefined
  /** Lower case. */
  lang?: string | undefined
  score?: number | undefined
  id_rubrique?: number | undefined
  /** Any of these wrote it. */
  auteurs?: number[] | undefined
}

export function findChallenges(
  db: Db,
  filters: ChallengeFilters,
  debut = 0,
  limite = DEFAULT_PAGE_ROWS,
): Promise<Page<ChallengeItemRow>> {
  return findListed(db, filters, debut, limite, selectItems(db.q))
}

/** The same without the counts, which any solve changes. */
export function findChallengeTitles(
  db: Db,
  filters: ChallengeFilters,
  debut: number,
  limite: number,
): Promise<Page<ChallengeTitleRow>> {
  return findListed(db, filters, debut, limite, selectTitles(db.q))
}

function findListed<R>(
  db: Db,
  { titre, soustitre, lang, score, id_rubrique, auteurs }: ChallengeFilters,
  debut: number,
  limite: number,
  items: SelectQueryBuilder<Tables, 'challenges' | 'rubriques', R>,
): Promise<Page<R>> {
  const list = {
    contains: { titre_plie: titre, soustitre_plie: soustitre },
    equals: { lang_cle: lang, score, id_rubrique },
    condition: auteurs && writtenByAny(auteurs),
    debut,
    limite,
  }
  return findPage(db, challenges, list, items)
}

/** One challenge with all that its page shows. Throws `resource_not_found`. */
export async function findChallenge(db: Db, idChallenge: number): Promise<ChallengeRow> {
  const id = { id: idChallenge }
  const row = found(await db.get(selectChallenge, id), 'challenge')
  const [premiere] = row.nb_validations > 0 ? await validationsFrom(db, idChallenge, 0, 1) : []
  return {
    ...row,
    traductions:
      row.id_trad === null
        ? [{ id_challenge: row.id_challenge, lang: row.lang }]
        : await db.all(selectTraductions, { id_trad: row.id_trad }),
    auteurs: await db.all(selectAuteurs, id),
    premiere,
  }
}

/** Who solved a challenge, the first solver first. Throws `resource_not_found`. */
export async function findValidations(
  db: Db,
  idChallenge: number,
  debut = 0,
  limite = DEFAULT_PAGE_ROWS,
): Promise<Page<ValidationRow>> {
  const total = await countValidations(db, idChallenge)
  const rows = await validationsFrom(db, idChallenge, debut, limite)
  return countedPage(rows, debut, limite, total)
}

/** Who solved a challenge, the latest solver first and unknown dates last; at one time the higher id first. Throws `resource_not_found`. */
export async function findLatestValidations(
  db: Db,
  idChallenge: number,
  debut = 0,
  limite = DEFAULT_PAGE_ROWS,
): Promise<Page<ValidationRow>> {
  const total = await countValidations(db, idChallenge)
  const dated = await countBefore(db, idChallenge, UNKNOWN_DATE)
  // What comes last in the order of dates comes first here.
  const backwards = async (from: number, to: number) =>
    from < to ? (await validationsFrom(db, idChallenge, from, to - from)).reverse() : []
  const end = Math.min(debut + limite, total)
  const rows = [
    ...(await backwards(dated - Math.min(end, dated), dated - debut)),
    ...(await backwards(dated + total - end, dated + total - Math.max(debut, dated))),
  ]
  return { rows, debut, limite, total, more: end < total }
}

/** How often a challenge was solved. Throws `resource_not_found`. */
export async function countValidations(db: Db, idChallenge: number): Promise<number> {
  return found(await db.get(selectCount, { id: idChallenge }), 'challenge').nb_validations
}

export async function validationsFrom(
  db: Db,
  idChallenge: number,
  debut: number,
  limite: number,
): Promise<ValidationRow[]> {
  const rows = await validations.of(idChallenge).page(db, debut, limite)
  return rows.map((row) => (row.date === UNKNOWN_DATE ? { ...row, date: null } : row))
}

/** How many validations of a challenge have an earlier date. */
export function countBefore(db: Db, idChallenge: number, date: number): Promise<number> {
  return validations.of(idChallenge).rank(db, { cle: date })
}

function writtenByAny(auteurs: number[]) {
  return sql<boolean>`t.id_challenge in (select id_challenge from challenges_auteurs where id_auteur in (${sql.join(padded(auteurs))}))`
}

function selectItems(q: Builder) {
  return selectTitles(q).select('nb_validations')
}

function selectTitles(q: Builder) {
  return q
    .selectFrom('challenges')
    .innerJoin('rubriques', 'rubriques.id_rubrique', 'challenges.id_rubrique')
    .select(['id_challenge', 'titre', 'soustitre', 'lang', 'score'])
    .select(['challenges.id_rubrique', 'rubriques.nom as rubrique'])
    .select(['difficulte', 'id_trad', 'url_challenge', 'date_publication'])
}

const selectChallenge = statement<{ id: number }>({ validations: { id_challenge: 'id' } })((q, p) =>
  selectItems(q).select('descriptif').where('id_challenge', '=', p.id),
)

const selectTraductions = statement<{ id_trad: number }>()((q, p) =>
  q.selectFrom('challenges').select(['id_challenge', 'lang']).where('id_trad', '=', p.id_trad).orderBy('id_challenge'),
)

const selectAuteurs = byRows(
  statement<{ id: number }>()((q, p) =>
    q
      .selectFrom('challenges_auteurs')
      .innerJoin('auteurs', 'auteurs.id_auteur', 'challenges_auteurs.id_auteur')
      .select(['auteurs.id_auteur', 'nom'])
      .where('id_challenge', '=', p.id)
      .orderBy('auteurs.id_auteur'),
  ),
  { auteurs: 'id_auteur' },
)

const selectCount = statement<{ id: number }>({ validations: { id_challenge: 'id' } })((q, p) =>
  q.selectFrom('challenges').select('nb_validations').where('id_challenge', '=', p.id),
)
