import { sql } from 'kysely'
import type { Page } from '../contract.js'
import { countAll, type Key, leafOf, MAX_MEMBERS, seek } from '../store/counted.js'
import { hidden, statement } from '../store/query.js'
import { COVERED } from '../store/reads.js'
import type { Db } from '../store/store.js'
import type { RankedRow } from './contract.js'

/** The order that the whole ranking is kept in: score descending, then id ascending. */
export const CLASSEMENT = 'classement'

/** A ranking: the counted order that it is kept in, whose keys are the score negated and the id. */
export interface Order {
  arbre: string
  /** How many entries lie from the beginning of a leaf on, before a key that belongs to it. */
  countInLeaf(db: Db, from: Key, to: Key): Promise<{ nb: number } | undefined>
}

/** A ranking whose entries can be read: so many of them at least from a key on, in order. */
export interface Ranking extends Order {
  read(db: Db, from: Key, rows: number): Promise<Omit<RankedRow, 'place'>[]>
}

export const wholeOrder: Order = {
  arbre: CLASSEMENT,
  countInLeaf: (db, { cle, id }, to) => db.get(countInLeaf, { cle, id, cleFin: to.cle, idFin: to.id }),
}

/**
 * The one definition of a tie: a place is 1 + the number of ranked authors with a strictly higher score. Equal scores
 * share it and the next places are skipped. Every place that anyone is shown comes from here.
 */
export async function placeOf(db: Db, score: number, order = wholeOrder): Promise<number> {
  return (await rowOf(db, score, 0, order)) + 1
}

/** How many ranked authors come before a score and an id: the zero-based row of the author who has them. */
export function rowOf(db: Db, score: number, id: number, order = wholeOrder): Promise<number> {
  const cle = 0 - score
  db.reads?.order(order.arbre, cle, cle)
  return countBefore(db, { cle, id }, order)
}

async function countBefore(db: Db, key: Key, order: Order): Promise<number> {
  const leaf = await leafOf(db, order.arbre, key.cle, key.id)
  return leaf.avant + Number((await order.countInLeaf(db, leaf, key))?.nb)
}

/** One page of a ranking, from a zero-based row on. */
export async function findRanked(db: Db, ranking: Ranking, debut: number, limite: number): Promise<Page<RankedRow>> {
  const total = await countAll(db, ranking.arbre)
  const start = await seek(db, ranking.arbre, debut)
  const read = start ? await readRanked(db, ranking, start, debut - start.reste, debut + limite) : []
  const rows = read.slice(start?.reste)
  noteRanked(db, ranking, rows)
  return { rows, debut, limite, total, more: debut + limite < total }
}

/** A page of a ranking shows names, and the keys from its first row to its last. */
function noteRanked({ reads }: Db, { arbre }: Ranking, rows: readonly RankedRow[]): void {
  const [first, last] = [rows[0], rows.at(-1)]
  if (!reads || !first || !last) return
  reads.order(arbre, 0 - first.score, 0 - last.score)
  reads.records(
    'auteurs.id_auteur',
    rows.map(({ id_auteur }) => id_auteur),
  )
}

/**
 * Rows with their places, from the row where a leaf begins. A tie that begins inside the leaf is seen in its rows, and one
 * that comes from before is that of the leaf's key: so the rows and the place are asked for together.
 */
async function readRanked(db: Db, ranking: Ranking, leaf: Key, from: number, to: number): Promise<RankedRow[]> {
  const score = 0 - leaf.cle
  const [before, entries] = await Promise.all([
    countBefore(db, { cle: leaf.cle, id: 0 }, ranking),
    ranking.read(db, leaf, to - from),
  ])
  const next = placesFrom(from, { score, place: before + 1 })
  return entries.slice(0, to - from).map(({ id_auteur, nom, score }) => ({ id_auteur, nom, score, place: next(score) }))
}

/** The whole ranking in its order, for who reads all of it. */
export const CLASSEMENT_WALK = {
  columns: 'cle_classement, id_auteur, nom, score, nb_validations',
  from: 'auteurs',
  key: ['cle_classement', 'id_auteur'],
  after: [-Number.MAX_SAFE_INTEGER, 0],
} as const

/**
 * Tells the place of each entry of a ranking that is read in its order from a zero-based row on. Where that row may tie with
 * those before it, `known` is a score with its place.
 */
export function placesFrom(row: number, known?: { score: number; place: number }): (score: number) => number {
  let last = known
  return (score) => {
    row++
    if (score !== last?.score) last = { score, place: row }
    return last.place
  }
}

/** An index is walked through all that ties with an end, which may be most of it: so no more is read than a leaf may hold. */
const countInLeaf = statement<{ cle: number; id: number; cleFin: number; idFin: number }>(COVERED)((q, p) =>
  q
    .selectFrom(
      q
        .selectFrom('auteurs')
        .select(['cle_classement', 'id_auteur'])
        .where(sql<boolean>`(cle_classement, id_auteur) >= (${hidden(q, p.cle)}, ${hidden(q, p.id)})`)
        .orderBy('cle_classement')
        .orderBy('id_auteur')
        .limit(sql.lit(MAX_MEMBERS))
        .as('feuille'),
    )
    .select(({ fn }) => fn.countAll<number>().as('nb'))
    .where(sql<boolean>`(cle_classement, id_auteur) < (${p.cleFin}, ${p.idFin})`),
)
