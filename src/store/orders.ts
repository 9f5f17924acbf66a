import { sql } from 'kysely'
import { LISTED_KINDS, type ListedKind } from '../model/kinds.js'
import { order } from './counted/order.js'
import type { Builder } from './query.js'

/**
 * Every counted order, declared once. Pages, ranks, imports, live changes and `palmares check` all follow these
 * declarations.
 */

/** What an entry of a ranking shows, besides the place. `date` breaks ties: 0 where equal scores share a place. */
interface Scored {
  score: number
  date: number
}

/** Score descending, then date and id ascending. An author who holds no place has no key. */
const byScore = {
  table: 'auteurs',
  key: { cle: 'cle_classement', date: 'date_classement', id: 'id_auteur' },
  rows: (q: Builder) =>
    q
      .selectFrom('auteurs')
      .select(['id_auteur', 'nom', sql<number>`-cle_classement`.as('score'), 'date_classement as date']),
  shows: 'auteurs.id_auteur',
  keyOf: ({ score, date }: Scored) => ({ cle: 0 - score, date }),
} as const

/** The whole ranking. */
export const classement = order({ ...byScore, name: 'classement' })

/** The ranking of each group, by the group in lower case. */
export const groupes = order({ ...byScore, name: 'groupes', by: { column: 'groupe_cle', none: '' } })

/** The rankings by category, year and month; the value says which. */
export const classements = order({
  name: 'classements',
  table: 'classements',
  key: { cle: 'cle', date: 'date', id: 'id_auteur' },
  by: { column: 'classement' },
  rows: (q) =>
    q
      .selectFrom('classements')
      .innerJoin('auteurs', 'auteurs.id_auteur', 'classements.id_auteur')
      .select(['classements.id_auteur', 'nom', sql<number>`-cle`.as('score'), 'classements.date']),
  shows: 'auteurs.id_auteur',
  keyOf: ({ score, date }: Scored) => ({ cle: 0 - score, date }),
})

/** Who solved a challenge, by date, then by id: one order for each challenge, numbered by its id. */
export const validations = order({
  name: 'validations',
  table: 'validations',
  key: { cle: 'date', id: 'id_auteur' },
  by: { column: 'id_challenge' },
  rows: (q) =>
    q
      .selectFrom('validations')
      .innerJoin('auteurs', 'auteurs.id_auteur', 'validations.id_auteur')
      .select(['validations.id_auteur', 'nom', 'date']),
  shows: 'auteurs.id_auteur',
  keyOf: ({ date }: { date: number }) => ({ cle: date }),
})

/** The whole list of each kind that has one, by id. */
export const lists = Object.fromEntries(
  LISTED_KINDS.map(({ table, key }) => [table, list(table, key[0] as string)]),
) as Record<ListedKind['table'], ReturnType<typeof list>>

function list(table: ListedKind['table'], id: string) {
  return order({
    name: table,
    table,
    key: { id },
    rows: (q) => q.selectFrom(table as 'auteurs').select(sql.ref<number>(id).as('id')),
    keyOf: () => ({}),
  })
}

/** In the order in which imports build them. */
export const ORDERS = [classement, groupes, ...Object.values(lists), validations, classements] as const
