import { sql } from 'kysely'
import type { Ranges } from '../../store/changes.js'
import { applyMoves, forgetMoves, insertMoves, makeMoves } from '../../store/counted/moves.js'
import { classement, classements, groupes, ORDERS } from '../../store/orders.js'
import { fixed, type Statement, written } from '../../store/query.js'
import { type Db, makeScratch, runInOrder } from '../../store/store.js'
import { deriveScoresOf, HOLDS_PLACE, MAX_POINTS, pointsOf, rankedIn, type Some } from '../derive.js'

/** A change would give an author more points than a number carries exactly. */
export class PointsError extends Error {
  constructor(idAuteur: number) {
    super(`the points of auteur ${idAuteur}, with the base or without, would pass ${MAX_POINTS}`)
  }
}

/**
 * What a batch of changes does to scores and rankings. Each author is noted before anything of theirs changes. At the end
 * their entries in the rankings are derived again from the records, and entries that differ are replaced. So the cost
 * follows the touched authors and what they solved, and the numbers come from the records as they do after an import.
 */
export async function makeTouched(db: Db): Promise<void> {
  await Promise.all([
    makeMoves(db),
    makeScratch(db, 'touched', `select id_auteur, cast(${NEW} as bigint) as stage from auteurs where false`),
    db.exec('create unique index if not exists touched_auteur on touched (id_auteur)'),
    makeScratch(
      db,
      'touched_points',
      'select id_auteur, nb_validations as nb, score as points, date_score as date from auteurs where false',
    ),
    db.exec('create unique index if not exists touched_points_auteur on touched_points (id_auteur)'),
    makeScratch(db, 'touched_groups', 'select groupe_cle from auteurs where false'),
    makeScratch(db, 'entries_before', 'select * from classements where false'),
    makeScratch(db, 'entries_after', 'select * from classements where false'),
  ])
}

/** Notes the authors whose `id_auteur` a select finds, before what they solved, its scores or they themselves change. */
export async function touch(db: Db, select: string): Promise<void> {
  await runInOrder(db, [touching(select), insertBefore, leaveGroups, markNew])
}

/**
 * Checks the authors that were noted since the last check. `between` is how many points more one may have had between two
 * lines. Throws `PointsError` where one has too many.
 */
export async function checkTouched(db: Db, between: number): Promise<void> {
  const [beyond] = await db.all(selectBeyond, { most: MAX_POINTS - between })
  if (beyond) throw new PointsError(beyond.id_auteur)
  await db.run(markChecked)
}

/** Updates scores, rankings and orders to what the records say now; authors of hidden statuts have no place. Returns which rankings changed, and between which keys. */
export async function settle(db: Db, hidden: readonly string[]): Promise<Ranges> {
  await runInOrder(db, [insertPoints, removeOldRanks])
  await deriveScoresOf(db, TOUCHED, { points: 'touched_points', hidden })
  await runInOrder(db, [addNewRanks, joinGroups, insertAfter, ...replaceEntries])
  const moved = await applyMoves(db, ORDERS)
  await runInOrder(db, renewGroups)
  await runInOrder(db, forgetTouched)
  const isRanking = (name: string) => [classement, groupes, classements].some((order) => order.has(name))
  return Object.fromEntries(Object.entries(moved).filter(([name]) => isRanking(name)))
}

/** The stages of a noted author: not yet marked, noted for the current step, or noted for one before it. */
const [NEW, IN_STEP, CHECKED] = [0, 1, 2]

/** What the noted authors have solved, or those at one stage. A cross join keeps both engines to this order. */
const SOLVED: Some = { from: 'touched t cross join validations v', where: 'v.id_auteur = t.id_auteur' }
const solvedOf = (stage: number): Some => ({ ...SOLVED, where: `t.stage = ${stage} and ${SOLVED.where}` })
const TOUCHED: Some = { from: 'touched t cross join auteurs a', where: 'a.id_auteur = t.id_auteur' }

const touches = new Map<string, Statement<Record<never, never>, never>>()

/** One statement for each of the selects, which are a handful. */
function touching(select: string): Statement<Record<never, never>, never> {
  const known = touches.get(select)
  if (known) return known
  const made = fixed(
    // The select runs first. In the order of a `distinct` PostgreSQL would walk all that the select could lead to.
    `with found as materialized (${select})
     insert into touched (id_auteur, stage) select id_auteur, ${NEW} from (select distinct id_auteur from found) as noted
     where true on conflict (id_auteur) do update set stage = ${IN_STEP}`,
  )
  touches.set(select, made)
  return made
}

const ENTRY = classements.columns
const insertBefore = fixed(`insert into entries_before (${ENTRY}) ${rankedIn(solvedOf(NEW))}`)
const markNew = fixed(`update touched set stage = ${IN_STEP} where stage = ${NEW}`)
const markChecked = fixed(`update touched set stage = ${CHECKED} where stage = ${IN_STEP}`)

const insertPoints = fixed(`insert into touched_points (id_auteur, nb, points, date) ${pointsOf(SOLVED)}`)
const selectBeyond = written<{ most: number }, { id_auteur: number }>(
  ({ most }) => sql`select a.id_auteur from (${sql.raw(pointsOf(solvedOf(IN_STEP)))}) as g
    join auteurs a on a.id_auteur = g.id_auteur
    where g.points > ${most} or a.base + g.points > ${most} order by a.id_auteur limit 1`,
)

const RANKED = `${TOUCHED.from} where ${TOUCHED.where} and ${HOLDS_PLACE}`
const removeOldRanks = fixed(insertMoves(classement, -1, 'a', RANKED))
const addNewRanks = fixed(insertMoves(classement, 1, 'a', RANKED))

/** An author may change groups, so the old entry is noted before anything changes. */
const IN_GROUP = `${TOUCHED.from} where ${TOUCHED.where} and ${HOLDS_PLACE} and a.groupe_cle <> ''`
const leaveGroups = fixed(insertMoves(groupes, -1, 'a', `${IN_GROUP} and t.stage = ${NEW}`))
const joinGroups = fixed(insertMoves(groupes, 1, 'a', IN_GROUP))

/** Notes the groups of authors who may join or leave one, before and after a change. */
export const noteGroups = (auteurs: string) =>
  `insert into touched_groups (groupe_cle)
   select a.groupe_cle from auteurs a where a.id_auteur in (${auteurs}) and a.groupe_cle <> ''`

/**
 * The trees of the orders say how many authors a group has, and a seek in the index finds its first author, so that a large
 * group costs what a small one does. With an equality PostgreSQL may walk all authors by id.
 */
const renewGroups = [
  fixed('delete from groupes where groupe_cle in (select groupe_cle from touched_groups)'),
  fixed(
    `insert into groupes (groupe_cle, nom, nom_plie, nb_auteurs)
     select g.groupe_cle, a.groupe, a.groupe_plie, g.nb from (
       select t.groupe_cle,
         ${groupes.total('t.groupe_cle')} as nb,
         (select o.id_auteur from auteurs o where (o.groupe_cle, o.id_auteur) >= (t.groupe_cle, 0)
            and o.cle_classement + 0 is not null order by o.groupe_cle, o.id_auteur limit 1) as id
       from (select distinct groupe_cle from touched_groups) as t
     ) as g join auteurs a on a.id_auteur = g.id and a.groupe_cle = g.groupe_cle`,
  ),
]

const insertAfter = fixed(`insert into entries_after (${ENTRY}) ${rankedIn(SOLVED)}`)
const REMOVED = `select ${ENTRY} from entries_before except select ${ENTRY} from entries_after`
const ADDED = `select ${ENTRY} from entries_after except select ${ENTRY} from entries_before`
const replaceEntries = [
  fixed(insertMoves(classements, -1, 'e', `(${REMOVED}) as e`)),
  // SQLite uses the index only where the list is a table of its own.
  fixed(`delete from classements where (${ENTRY}) in (select * from (${REMOVED}) as removed)`),
  fixed(insertMoves(classements, 1, 'e', `(${ADDED}) as e`)),
  fixed(`insert into classements (${ENTRY}) ${ADDED}`),
]

const forgetTouched = [
  ...forgetMoves,
  ...['touched', 'touched_groups', 'touched_points', 'entries_before', 'entries_after'].map((table) =>
    fixed(`delete from ${table}`),
  ),
]
