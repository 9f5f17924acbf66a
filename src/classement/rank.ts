import { sql } from 'kysely'
import { leafOf } from '../store/counted.js'
import { statement } from '../store/query.js'
import type { Db } from '../store/store.js'

/**
 * The one definition of a tie: a place is 1 + the number of ranked authors with a strictly higher score. Equal scores
 * share it and the next places are skipped. Every place that anyone is shown comes from here.
 */
export async function placeOf(db: Db, score: number): Promise<number> {
  return (await rowOf(db, score, 0)) + 1
}

/** The order that the ranking is kept in: score descending, then id ascending. */
export const CLASSEMENT = 'classement'

/** How many ranked authors come before a score and an id: the zero-based row of the author who has them. */
export async function rowOf(db: Db, score: number, idAuteur: number): Promise<number> {
  const cle = -score
  const leaf = await leafOf(db, CLASSEMENT, cle, idAuteur)
  const row = await db.get(countInLeaf, { fromCle: leaf.cle, fromId: leaf.id, cle, id: idAuteur })
  return leaf.avant + Number(row?.nb)
}

/**
 * The places of rows of the ranking that were read from the beginning of the leaf at `start`; `debut` is the row that lies
 * there. A tie that begins inside the leaf is seen in the rows, and one that comes from before is that of the leaf's key:
 * so nobody waits for the rows to ask for a place.
 */
export async function placesFrom(
  db: Db,
  start: { cle: number },
  debut: number,
  reading: Promise<readonly { score: number }[]>,
): Promise<number[]> {
  let score = -start.cle
  const [before, rows] = await Promise.all([placeOf(db, score), reading])
  let place = before
  return rows.map((row, index) => {
    if (row.score !== score) place = debut + index + 1
    score = row.score
    return place
  })
}

const countInLeaf = statement<{ fromCle: number; fromId: number; cle: number; id: number }>()((q, p) =>
  q
    .selectFrom('auteurs')
    .select(({ fn }) => fn.countAll<number>().as('nb'))
    .where(sql<boolean>`(cle_classement, id_auteur) >= (${p.fromCle}, ${p.fromId})`)
    .where(sql<boolean>`(cle_classement, id_auteur) < (${p.cle}, ${p.id})`),
)
