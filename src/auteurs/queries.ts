import { sql } from 'kysely'
import { placeOf } from '../classement/rank.js'
import type { Page } from '../contract.js'
import { Problem } from '../errors.js'
import { UNKNOWN_DATE } from '../instant.js'
import { auteurs } from '../model/kinds.js'
import { DEFAULT_PAGE_ROWS } from '../parameters.js'
import { listIds, padded } from '../store/list.js'
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

export async function findAuteurs(
  db: Db,
  filters: AuteurFilters,
  debut = 0,
  limite = DEFAULT_PAGE_ROWS,
): Promise<Page<AuteurItemRow>> {
  const { ids, ...counts } = await listIds(db, auteurs, {
    contains: { nom_plie: filters.nom },
    equals: { statut_cle: filters.statut, lang_cle: filters.lang, groupe_cle: filters.groupe },
    condition: filters.auteurs && sql<boolean>`t.id_auteur in (${sql.join(padded(filters.auteurs))})`,
    debut,
    limite,
  })
  const query = db.q
    .selectFrom('auteurs')
    .select(['id_auteur', 'nom'])
    .where('id_auteur', 'in', padded(ids))
    .orderBy('id_auteur')
  return { rows: ids.length === 0 ? [] : await db.all(query), debut, limite, ...counts }
}

/** One author with what they wrote and solved. Throws `resource_not_found`. */
export async function findAuteur(db: Db, idAuteur: number): Promise<AuteurRow> {
  const id = { id: idAuteur }
  // Asked together: no question waits for an answer that it does not need.
  const [auteur, challenges, validations] = await Promise.all([
    db.get(selectAuteur, id),
    db.all(selectWritten, id),
    db.all(selectValidations, id),
  ])
  if (!auteur) throw new Problem('resource_not_found', { detail: 'The portal has no author with this id.' })
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
    .select(['id_auteur', 'nom', 'score', 'statut', 'lang', 'nb_validations', 'groupe'])
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
