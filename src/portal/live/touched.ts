import { sql } from 'kysely'
import type { Ranges } from '../../store/changes.js'
import { applyMoves, forgetMoves, makeMoves } from '../../store/counted-moves.js'
import { fixed, runInOrder, type Statement, statement } from '../../store/query.js'
import { type Db, makeScratch } from '../../store/store.js'
import { deriveScoresOf, HOLDS_PLACE, MAX_POINTS, pointsOf, rankedIn, type Some } from '../derive.js'
import { sliceOf } from '../orders.js'

/** A change would give an author more points than a number carries exactly. */
export class PointsError extends Error {
  constructor(idAuteur: number) {
    super(`the points of auteur ${idAuteur}, with the base or without, would pass ${MAX_POINTS}`)
  }
}

/**
 * What a batch of changes does to scores and rankings. Each author is noted before anything of theirs changes; in the end
 * their entries in the rankings are made anew from the records, and what differs moves. So the cost follows the authors who
 * are touched and what they solved, and the numbers come from the records as they do after an import.
 */
export async function makeTouched(db: Db): Promise<void> {
  await Promise.all([
    makeMoves(db),
    makeScratch(db, 'lot_touches', `select id_auteur, cast(${NEW} as bigint) as vu from auteurs where false`),
    db.exec('create unique index if not exists lot_touches_auteur on lot_touches (id_auteur)'),
    makeScratch(db, 'lot_gains', 'select id_auteur, nb_validations as nb, score as points from auteurs where false'),
    db.exec('create unique index if not exists lot_gains_auteur on lot_gains (id_auteur)'),
    makeScratch(db, 'lot_avant', 'select * from classements where false'),
    makeScratch(db, 'lot_apres', 'select * from classements where false'),
  ])
}

/** Notes the authors whose `id_auteur` a select finds, before what they solved, its scores or they themselves change. */
export async function touch(db: Db, select: string): Promise<void> {
  await runInOrder(db, [noting(select), insertBefore, markNew])
}

/**
 * Looks at the authors that were noted since the last look, who may have had some points more on the way. Throws
 * `PointsError` where one has too many.
 */
export async function checkTouched(db: Db, between: number): Promise<void> {
  const [beyond] = await db.all(selectBeyond, { most: MAX_POINTS - between })
  if (beyond) throw new PointsError(beyond.id_auteur)
  await db.run(markSeen)
}

/** Brings scores, rankings and orders to what the records say now. Tells which rankings moved, and between which keys. */
export async function settle(db: Db): Promise<Ranges> {
  await runInOrder(db, [insertGains, insertOldRanks])
  await deriveScoresOf(db, TOUCHED, 'lot_gains')
  await runInOrder(db, [
    insertNewRanks,
    insertAfter,
    insertOldEntries,
    deleteOldEntries,
    insertNewEntries,
    addNewEntries,
  ])
  const moved = await db.all(selectMoved, {})
  if (moved.length > 0) await applyMoves(db, sliceOf)
  await runInOrder(db, forgetTouched)
  const rankings = moved.filter(({ arbre }) => arbre.startsWith('classement'))
  return Object.fromEntries(rankings.map(({ arbre, de, a, nb }) => [arbre, [de, a, Number(nb) === 0]]))
}

/** Where an author stands: noted just now, noted for the step under way, or in one before. */
const [NEW, IN_STEP, SEEN] = [0, 1, 2]

/** What the authors who were noted have solved, or those who stand at some point; a cross join keeps both engines to this order. */
const SOLVED: Some = { from: 'lot_touches t cross join validations v', where: 'v.id_auteur = t.id_auteur' }
const solvedOf = (vu: number): Some => ({ ...SOLVED, where: `t.vu = ${vu} and ${SOLVED.where}` })
const TOUCHED: Some = { from: 'lot_touches t cross join auteurs a', where: 'a.id_auteur = t.id_auteur' }

const notes = new Map<string, Statement<Record<never, never>, never>>()

/** One statement for each of the selects, which are a handful. */
function noting(select: string): Statement<Record<never, never>, never> {
  const known = notes.get(select)
  if (known) return known
  const made = fixed(
    // Found first: in the order of a distinct PostgreSQL would walk all that the select could lead to.
    `with tous as materialized (${select})
     insert into lot_touches (id_auteur, vu) select id_auteur, ${NEW} from (select distinct id_auteur from tous) as noter
     where true on conflict (id_auteur) do update set vu = ${IN_STEP}`,
  )
  notes.set(select, made)
  return made
}

const insertBefore = fixed(`insert into lot_avant (classement, cle, id_auteur) ${rankedIn(solvedOf(NEW))}`)
const markNew = fixed(`update lot_touches set vu = ${IN_STEP} where vu = ${NEW}`)
const markSeen = fixed(`update lot_touches set vu = ${SEEN} where vu = ${IN_STEP}`)

const insertGains = fixed(`insert into lot_gains (id_auteur, nb, points) ${pointsOf(SOLVED)}`)
const selectBeyond = statement<{ most: number }>()((q, { most }) => {
  const select = sql.raw(`select a.id_auteur from (${pointsOf(solvedOf(IN_STEP))}) as g
    join auteurs a on a.id_auteur = g.id_auteur`)
  const beyond = sql<{ id_auteur: number }>`${select}
    where g.points > ${most} or a.base + g.points > ${most} order by a.id_auteur limit 1`
  return { compile: () => beyond.compile(q) }
})

const noteRanks = (nb: number) =>
  fixed(
    `insert into lot_ecarts (arbre, cle, id, nb) select 'classement', a.cle_classement, a.id_auteur, ${nb}
     from ${TOUCHED.from} where ${TOUCHED.where} and ${HOLDS_PLACE}`,
  )
const insertOldRanks = noteRanks(-1)
const insertNewRanks = noteRanks(1)

const insertAfter = fixed(`insert into lot_apres (classement, cle, id_auteur) ${rankedIn(SOLVED)}`)

/** The entries of one lot that the other does not have. */
const only = (lot: string, other: string) =>
  `select classement, cle, id_auteur from ${lot} except select classement, cle, id_auteur from ${other}`
const noteEntries = (select: string, nb: number) =>
  fixed(
    `insert into lot_ecarts (arbre, cle, id, nb) select 'classements/' || classement, cle, id_auteur, ${nb}
     from (${select}) as entrees`,
  )
const GONE = only('lot_avant', 'lot_apres')
const COME = only('lot_apres', 'lot_avant')
const insertOldEntries = noteEntries(GONE, -1)
// SQLite goes by the index only where what it looks in is a table of its own.
const deleteOldEntries = fixed(
  `delete from classements where (classement, cle, id_auteur) in (select * from (${GONE}) as partis)`,
)
const insertNewEntries = noteEntries(COME, 1)
const addNewEntries = fixed(`insert into classements (classement, cle, id_auteur) ${COME}`)

const selectMoved = fixed<{ arbre: string; de: number; a: number; nb: number }>(
  `select arbre, min(cle) as de, max(cle) as a, sum(nb) as nb from (
     select arbre, cle, id, sum(nb) as nb from lot_ecarts group by arbre, cle, id having sum(nb) <> 0
   ) as nets group by arbre order by arbre`,
)

const forgetTouched = [
  ...forgetMoves,
  ...['lot_touches', 'lot_gains', 'lot_avant', 'lot_apres'].map((table) => fixed(`delete from ${table}`)),
]
