import type { Depends, Page } from '../contract.js'
import { DEFAULT_PAGE_ROWS } from '../parameters.js'
import type { Order } from '../store/counted/order.js'
import { classement } from '../store/orders.js'
import type { Db } from '../store/store.js'
import type { RankedRow } from './contract.js'

type Scored = Pick<RankedRow, 'score'>

/** The whole ranking, or one by category or period. */
export type Ranking = Order<Scored, Omit<RankedRow, 'place'>>

/**
 * The one definition of a tie: a place is 1 + the number of ranked authors with a strictly higher score. Equal scores
 * share it and the next places are skipped. Every place that the portal shows comes from here.
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
  const rows = await ranking.rankedPage(db, debut, limite, ({ id_auteur, nom, score }, rank) => {
    return { id_auteur, nom, score, place: rank + 1 }
  })
  return { rows, debut, limite, total, more: debut + limite < total }
}

/** The place of each author in turn, for a reader of the whole ranking. */
export function placesInTurn(): (auteur: Scored) => number {
  const rank = classement.ranksFrom(0)
  return (auteur) => rank(auteur) + 1
}

/** How to read the whole ranking in its order. */
export const CLASSEMENT_WALK = { ...classement.walk, columns: 'cle_classement, id_auteur, nom, score, nb_validations' }

/** What a page of a ranking was made from: it shows names, and the keys between its first row and its last. */
export function dependsOfRanked(ranking: Ranking, rows: readonly RankedRow[]): Depends {
  const [first, last] = [rows[0], rows.at(-1)]
  const [de, a] = first && last ? [ranking.keyOf(first).cle, ranking.keyOf(last).cle] : [BEYOND, BEYOND]
  return { names: [], noms: rows.map(({ id_auteur }) => id_auteur), ranges: [[ranking.name, de, a]] }
}

/** No key lies here. */
export const BEYOND = Number.MAX_SAFE_INTEGER
