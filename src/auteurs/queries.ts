import { sql } from 'kysely'
import { placeOf } from '../classement/rank.js'
import type { Page } from '../contract.js'
import { found } from '../errors.js'
import { UNKNOWN_DATE } from '../instant.js'
import { auteurs } from '../model/kinds.js'
import { DEFAULT_PAGE_ROWS } from '../parameters.js'
import { findPage, padded } from '../store/list.js'
import { statement } from '../store/query.js'
import type { Db } from '../store/store.js'
import type { AuteurItemRow, AuteurRow } from './contract.js'

export interface AuteurFilters {
  /** Folded. */
  nom?: string | undefined
  /** Lower case. */
  statut?: string | undefined
  lang?: string | undefined
  groupe?: string | undefined
  /** These authors only. */
  auteurs?: number[] | undefined
}

export function findAuteurs(
  db: Db,
  { nom, statut, lang, groupe, auteurs: ids }: AuteurFilters,
  debut = 0,
  limite = DEFAULT_PAGE_ROWS,
): Promise<Page<AuteurItemRow>> {
  const list = {
    contains: { nom_plie: nom },
    equals: { statut_cle: statut, lang_cle: lang, groupe_cle: groupe },
    condition: ids && sql<boolean>`t.id_auteur in (${sql.join(padded(ids))})`,
    debut,
    limite,
  }
  return findPage(db, auteurs, list, db.q.selectFrom('auteurs').select(['id_auteur', 'nom']))
}

/** One author with what they wrote and solved. Throws `resource_not_found`. */
export async function findAuteur(db: Db, idAuteur: number): Promise<AuteurRow> {
  const id = { id: idAuteur }
  // Asked together: no question waits for an answer that it does not need.
  const [row, challenges, validations] = await Promise.all([
    db.get(selectAuteur, id),
    db.all(selectWritten, id),
    db.all(selectValidations, id),
  ])
  const auteur = found(row, 'author')
  return {
    ...auteur,
    position: await placeOf(db, auteur),
    challenges,
    validations: validations.map((row) => (row.date === UNKNOWN_DATE ? { ...row, date: null } : row)),
  }
}

/** Of one author. */
const OWN = { auteurs: { id_auteur: 'id' }, validations: { id_auteur: 'id' } } as const

const selectAuteur = statement<{ id: number }>(OWN)((q, p) =>
  q
    .selectFrom('auteurs')
    .select(['id_auteur', 'nom', 'score', 'date_classement as date', 'statut', 'lang', 'nb_validations', 'groupe'])
    .where('id_auteur', '=', p.id),
)

const selectWritten = statement<{ id: number }>()((q, p) =>
  q
    .selectFrom('challenges_auteurs')
    .innerJoin('challenges', 'challenges.id_challenge', 'challenges_auteurs.id_challenge')
    .select(['challenges.id_challenge', 'url_challenge', 'titre'])
    .where('id_auteur', '=', p.id)
    .orderBy('challenges.id_challenge'),
)

const selectValidations = statement<{ id: number }>(OWN)((q, p) =>
  q
    .selectFrom('validations')
    .innerJoin('challenges', 'challenges.id_challenge', 'validations.id_challenge')
    .select(['challenges.id_challenge', 'titre', 'id_rubrique', 'score'])
    .select(({ ref }) => ref('date').$castTo<number | null>().as('date'))
    .where('id_auteur', '=', p.id)
    .orderBy(sql`date = ${sql.lit(UNKNOWN_DATE)}`)
    .orderBy('date', 'desc')
    .orderBy('challenges.id_challenge'),
)
