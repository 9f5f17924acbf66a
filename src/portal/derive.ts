import { UNKNOWN_DATE } from '../instant.js'
import { rebuild } from '../store/counted/build.js'
import { classements, ORDERS } from '../store/orders.js'
import { readSetting, TIES_BY_DATE } from '../store/settings.js'
import type { Db } from '../store/store.js'
import { deriveGroups } from './groups.js'
import { tuple } from './lot.js'

/**
 * What follows from the records: scores, counts, and the counted orders of the ranking and the lists. An import derives
 * all of it again in its transaction, so no reader sees an intermediate state.
 */
export async function derive(db: Db, onStep: OnStep = ignore, onOrder: OnStep = ignore): Promise<void> {
  const steps = [derivePoints, deriveScores, deriveCounts]
  for (const [done, step] of steps.entries()) {
    onStep(done, steps.length + 1)
    await step(db)
  }
  onStep(steps.length, steps.length + 1)
  await deriveRankings(db, onOrder)
}

/** Called before each step, with the steps done and all of them. */
export type OnStep = (done: number, of: number) => void
const ignore: OnStep = () => undefined

/** What no author's points may pass, with the base or without: every sum of them is then exact, in SQL and in JSON. */
export const MAX_POINTS = Number.MAX_SAFE_INTEGER

/**
 * The points that each author earned, in the temporary table `lot_points`. Points past `MAX_POINTS` stand there as one
 * more than it. The sum is not one of integers, as that can overflow; up to `MAX_POINTS` it is just as exact.
 */
export async function derivePoints(db: Db): Promise<void> {
  await db.exec('drop table if exists lot_points')
  await db.exec(`create temporary table lot_points as ${pointsOf()}`)
  await db.exec('create unique index lot_points_auteur on lot_points (id_auteur)')
  await db.analyze('lot_points')
}

/** Validations as `v` or authors as `a`, all of them or some, and what tells which. */
export interface Some {
  from: string
  where: string
}

const EVERY_VALIDATION: Some = { from: 'validations v', where: 'true' }
const EVERY_AUTEUR: Some = { from: 'auteurs a', where: 'true' }

/** The latest known date of some validations of challenges that are worth points. */
const REACHED = `max(case when c.score > 0 and v.date < ${UNKNOWN_DATE} then v.date end)`

/** When an author, `a`, reached the score, from the dates of the base and of the points, `p`; null if it is unknown. */
const SCORE_REACHED = 'case when a.date_score is null or p.date > a.date_score then p.date else a.date_score end'

/** What breaks a tie: the date at which a score was reached, last if it is unknown; 0 if the setting `departage` is off. */
function tieDate(reached: string): string {
  return `case when ${TIES_BY_DATE} then coalesce(${reached}, ${UNKNOWN_DATE}) else 0 end`
}

/** A select of (id_auteur, nb, points, date) for the authors who solved something, or those of some validations, which are `v`. */
export function pointsOf({ from, where } = EVERY_VALIDATION): string {
  const sum = 'sum(c.score * 1.0)'
  return `select v.id_auteur, count(*) as nb,
      cast(case when ${sum} > ${MAX_POINTS} then ${MAX_POINTS + 1} else ${sum} end as bigint) as points,
      ${REACHED} as date
    from ${from} join challenges c on c.id_challenge = v.id_challenge where ${where} group by v.id_auteur`
}

/** Scores and ranking keys from bases and points, after `derivePoints`. */
async function deriveScores(db: Db): Promise<void> {
  const { sql, values } = expectedScores(EVERY_AUTEUR, await everyScore(db))
  await db.exec(`update auteurs ${setScores(`(${sql})`)}`, ...values)
  await db.analyze('auteurs')
}

/** The same for some authors, from the points that a table holds of them. What is expected is found first: it is few. */
export async function deriveScoresOf(db: Db, some: Some, from: ScoresFrom): Promise<void> {
  const { sql, values } = expectedScores(some, from)
  await db.exec(`with attendus as materialized (${sql}) update auteurs ${setScores('attendus')}`, ...values)
}

/** The columns of an author that follow from the records. */
const DERIVED = ['score', 'nb_validations', 'cle_classement', 'date_classement']

function setScores(expected: string): string {
  return `set score = n.score, nb_validations = n.nb, cle_classement = n.cle, date_classement = n.date from ${expected} as n
    where n.id_auteur = auteurs.id_auteur
      and ${tuple(DERIVED, 'auteurs')} is distinct from (n.score, n.nb, n.cle, n.date)`
}

/** The authors whose score, count or ranking key is not what `deriveScores` would make it, the first of them. */
export async function findWrongScores(db: Db, limit: number): Promise<number[]> {
  const { sql, values } = expectedScores(EVERY_AUTEUR, await everyScore(db))
  const rows = await db.select<{ id_auteur: number }>(
    `select a.id_auteur from auteurs a join (${sql}) as n on n.id_auteur = a.id_auteur
     where ${tuple(DERIVED, 'a')} is distinct from (n.score, n.nb, n.cle, n.date)
     order by a.id_auteur limit ${limit}`,
    ...values,
  )
  return rows.map(({ id_auteur }) => id_auteur)
}

/** The table that holds points, and the statuts that hold no place. */
export interface ScoresFrom {
  points: string
  hidden: readonly string[]
}

async function everyScore(db: Db): Promise<ScoresFrom> {
  return { points: 'lot_points', hidden: await readSetting(db, 'statuts_masques') }
}

/** An author's score is the base and the points, 0 at least; one of a hidden statut has no key. */
function expectedScores(
  { from, where }: Some,
  { points, hidden: values }: ScoresFrom,
): { sql: string; values: readonly string[] } {
  const isHidden = values.length === 0 ? 'false' : `a.statut_cle in (${values.map(() => '?').join(', ')})`
  const total = 'a.base + coalesce(p.points, 0)'
  const score = `case when ${total} < 0 then 0 else ${total} end`
  const sql = `select a.id_auteur, ${score} as score, coalesce(p.nb, 0) as nb,
      case when ${isHidden} then null else -(${score}) end as cle, ${tieDate(SCORE_REACHED)} as date
    from ${from} left join ${points} p on p.id_auteur = a.id_auteur where ${where}`
  return { sql, values }
}

/** A ranked author with the date that breaks ties now, and the one that would if the setting `departage` were `date`. */
export interface TieDates {
  id_auteur: number
  nom: string
  score: number
  date: number
  reached: number
}

/** Every ranked author. Computes the dates, so it costs as much as a part of `derive`. */
export function findTieDates(db: Db): Promise<TieDates[]> {
  return db.select(
    `select a.id_auteur, a.nom, a.score, a.date_classement as date, coalesce(${SCORE_REACHED}, ${UNKNOWN_DATE}) as reached
     from auteurs a left join (${pointsOf()}) as p on p.id_auteur = a.id_auteur where a.cle_classement is not null`,
  )
}

/**
 * The rankings by category and period, and every counted order, after `deriveScores`. All of it is computed
 * again, but only differences are written: most of it stays as it is.
 */
async function deriveRankings(db: Db, onOrder: OnStep = ignore): Promise<void> {
  await db.exec('drop table if exists lot_classements')
  await db.exec(`create temporary table lot_classements as ${rankedIn()} order by 1, 2, 3, 4`)
  await db.exec('create unique index lot_classements_cle on lot_classements (classement, cle, date, id_auteur)')
  await db.analyze('lot_classements')
  await db.exec(
    `delete from classements as c where not exists (select 1 from lot_classements l
       where l.classement = c.classement and l.cle = c.cle and l.date = c.date and l.id_auteur = c.id_auteur)`,
  )
  await db.exec(
    `insert into classements (${ENTRY}) select ${ENTRY} from lot_classements where true order by ${ENTRY} on conflict do nothing`,
  )
  await db.exec('drop table lot_classements')
  await db.analyze('classements')
  await deriveGroups(db)
  for (const [done, order] of ORDERS.entries()) {
    onOrder(done, ORDERS.length)
    await rebuild(db, order)
  }
  await db.analyze('noeuds')
}

/** Of an author, `a`, who is found already: PostgreSQL would look for all others who do. */
export const HOLDS_PLACE = 'a.cle_classement + 0 is not null'

const ENTRY = classements.columns

/** The rankings that a validation counts in besides the whole one: its category's, its year's and its month's. */
const RANKINGS = ['-c.id_rubrique', 'v.mois / 100 * 100', 'v.mois']

/**
 * The entries of the rankings by category and period, after `deriveScores`: for each the authors who have a validation there
 * and hold a place, the points that they earned there, negated, and what breaks a tie; of all validations, or of some, which are `v`.
 */
export function rankedIn({ from, where } = EVERY_VALIDATION): string {
  return RANKINGS.map(
    (
      ranking,
    ) => `select ${ranking} as classement, cast(-sum(c.score) as bigint) as cle, ${tieDate(REACHED)} as date, v.id_auteur
      from ${from} join challenges c on c.id_challenge = v.id_challenge join auteurs a on a.id_auteur = v.id_auteur
      where ${where} and ${HOLDS_PLACE} and ${ranking} is not null group by ${ranking}, v.id_auteur`,
  ).join(' union all ')
}

/** The rankings by category and period whose entries are not what `deriveRankings` would make them, some of them. */
export async function findWrongRankings(db: Db, limit: number): Promise<number[]> {
  const stored = `select ${ENTRY} from classements`
  const rows = await db.select<{ classement: number }>(
    `select distinct classement from (
       select * from (${rankedIn()}) as attendus except ${stored}
     ) as manquants union select distinct classement from (
       ${stored} except select * from (${rankedIn()}) as attendus
     ) as surplus order by classement limit ${limit}`,
  )
  return rows.map(({ classement }) => classement)
}

/** What is counted of other records: for each row of a table, in a column, the rows of another table that have its id. */
export const COUNTS = [
  { what: 'challenge', table: 'challenges', id: 'id_challenge', column: 'nb_validations', counted: 'validations' },
  { what: 'category', table: 'rubriques', id: 'id_rubrique', column: 'nb_challenges', counted: 'challenges' },
] as const

async function deriveCounts(db: Db): Promise<void> {
  for (const { table, id, column, counted } of COUNTS) {
    await db.exec(
      `update ${table} set ${column} = n.nb
       from (select t.${id}, coalesce(c.nb, 0) as nb from ${table} t
         left join (select ${id}, count(*) as nb from ${counted} group by ${id}) as c on c.${id} = t.${id}) as n
       where n.${id} = ${table}.${id} and ${table}.${column} <> n.nb`,
    )
  }
}
