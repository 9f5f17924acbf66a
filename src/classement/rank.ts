import { countedPage, type Page } from '../contract.js'
import { DEFAULT_PAGE_ROWS } from '../parameters.js'
import type { Order } from '../store/counted/order.js'
import { classement } from '../store/orders.js'
import type { Db } from '../store/store.js'
import type { RankedRow } from './contract.js'

/** A score, and what breaks a tie; see the setting `departage`. */
export type Scored = Pick<RankedRow, 'score' | 'date'>

/** The whole ranking, or one by category or period. */
export type Ranking = Order<Scored, Omit<RankedRow, 'place'>>

/**
 * The one definition of a tie: a place is 1 + the number of ranked authors with a strictly higher score, or with the same
 * score and an earlier date if dates break ties. Authors equal in both share it, and the next places are skipped. Every
 * place that the portal shows comes from here.
 */
export async function placeOf(db: Db, auteur: Scored): Promise<number> {
  return (await classement.rank(db, classement.keyOf(auteur))) + 1
}

/** One page of a ranking, from a zero-based row on. */
export async function findRanked(
  db: Db,
  ranking: Ranking,
  debut = 0,
  limite = DEFAULT_PAGE_ROWS,
): Promise<Page<RankedRow>> {
  const total = await ranking.count(db)
  const rows = await ranking.rankedPage(db, debut, limite, (row, rank) => {
    return { ...row, place: rank + 1 }
  })
  return countedPage(rows, debut, limite, total)
}

/** Some authors ranked among themselves, with their positions in the whole ranking. It leaves out those who hold no place. */
export function findAmong(db: Db, ids: readonly number[]): Promise<RankedRow[]> {
  return classement.rankedAmong(db, ids, (row, rank, among) => ({ ...row, place: among + 1, position: rank + 1 }))
}

/** The place of each author in turn, for a reader of the whole ranking. */
export function placesInTurn(): (auteur: Scored) => number {
  const rank = classement.ranksFrom(0)
  return (auteur) => rank(auteur) + 1
}

/** How to read the whole ranking in its order. */
export const CLASSEMENT_WALK = {
  ...classement.walk,
  columns: 'cle_classement, date_classement, date_classement as date, id_auteur, nom, score, nb_validations',
}
