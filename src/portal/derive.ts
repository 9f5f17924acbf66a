import { CLASSEMENT } from '../classement/rank.js'
import { rebuild } from '../store/counted.js'
import type { Db } from '../store/store.js'

/**
 * What follows from the records: scores, counts, and the counted orders of the ranking and the lists. An import derives
 * all of it anew in its transaction, so no reader ever sees it half done.
 */
export async function derive(db: Db): Promise<void> {
  await derivePoints(db)
  await deriveScores(db)
  await deriveCounts(db)
  await deriveOrders(db)
}

/** What no author's points may pass, with the base or without: every sum of them is then exact, in SQL and in JSON. */
export const MAX_POINTS = Number.MAX_SAFE_INTEGER

/**
 * The points that each author earned, in the temporary table `lot_points`. Points past `MAX_POINTS` stand there as one
 * more than it. The sum is not one of integers, as that can overflow; up to `MAX_POINTS` it is just as exact.
 */
export async function derivePoints(db: Db): Promise<void> {
  const sum = 'sum(c.score * 1.0)'
  await db.exec('drop table if exists lot_points')
  await db.exec(`create temporary table lot_points as
    select v.id_auteur, count(*) as nb,
      cast(case when ${sum} > ${MAX_POINTS} then ${MAX_POINTS + 1} else ${sum} end as bigint) as points
    from validations v join challenges c on c.id_challenge = v.id_challenge group by v.id_auteur`)
  await db.exec('create unique index lot_points_auteur on lot_points (id_auteur)')
  await db.analyze('lot_points')
}

/** Scores and ranking keys from bases and points, after `derivePoints`. */
export async function deriveScores(db: Db): Promise<void> {
  const { sql, values } = await expectedScores(db)
  await db.exec(
    `update auteurs set score = n.score, nb_validations = n.nb, cle_classement = n.cle from (${sql}) as n
     where n.id_auteur = auteurs.id_auteur
       and (auteurs.score, auteurs.nb_validations, auteurs.cle_classement) is distinct from (n.score, n.nb, n.cle)`,
    ...values,
  )
}

/** The authors whose score, count or ranking key is not what `deriveScores` would make it, the first of them. */
export async function findWrongScores(db: Db, limit: number): Promise<number[]> {
  const { sql, values } = await expectedScores(db)
  const rows = await db.select<{ id_auteur: number }>(
    `select a.id_auteur from auteurs a join (${sql}) as n on n.id_auteur = a.id_auteur
     where (a.score, a.nb_validations, a.cle_classement) is distinct from (n.score, n.nb, n.cle)
     order by a.id_auteur limit ${limit}`,
    ...values,
  )
  return rows.map(({ id_auteur }) => id_auteur)
}

/** An author's score is the base and the points, 0 at least; one of a hidden statut has no key. */
async function expectedScores(db: Db): Promise<{ sql: string; values: string[] }> {
  const values = await hiddenStatuts(db)
  const isHidden = values.length === 0 ? 'false' : `a.statut_cle in (${values.map(() => '?').join(', ')})`
  const total = 'a.base + coalesce(p.points, 0)'
  const score = `case when ${total} < 0 then 0 else ${total} end`
  const sql = `select a.id_auteur, ${score} as score, coalesce(p.nb, 0) as nb,
      case when ${isHidden} then null else -(${score}) end as cle
    from auteurs a left join lot_points p on p.id_auteur = a.id_auteur`
  return { sql, values }
}

export async function deriveOrders(db: Db): Promise<void> {
  for (const { pattern, entries } of ORDERS) await rebuild(db, pattern, entries)
}

/** The lower-case statuts that hold no place. */
export async function hiddenStatuts(db: Db): Promise<string[]> {
  const [row] = await db.select<{ statuts_masques: string }>('select statuts_masques from etat')
  return JSON.parse(row?.statuts_masques ?? '[]')
}

async function deriveCounts(db: Db): Promise<void> {
  await deriveCount(db, 'challenges', 'id_challenge', 'nb_validations', 'validations')
  await deriveCount(db, 'rubriques', 'id_rubrique', 'nb_challenges', 'challenges')
}

async function deriveCount(db: Db, table: string, id: string, column: string, counted: string): Promise<void> {
  await db.exec(
    `update ${table} set ${column} = n.nb
     from (select t.${id}, coalesce(c.nb, 0) as nb from ${table} t
       left join (select ${id}, count(*) as nb from ${counted} group by ${id}) as c on c.${id} = t.${id}) as n
     where n.${id} = ${table}.${id} and ${table}.${column} <> n.nb`,
  )
}

/** Every counted order: the names it goes by, and its entries. */
export const ORDERS: readonly { pattern: string; entries: string }[] = [
  {
    pattern: CLASSEMENT,
    entries: `select '${CLASSEMENT}' as arbre, cle_classement as cle, id_auteur as id from auteurs
      where cle_classement is not null`,
  },
  listOrder('auteurs', 'id_auteur'),
  listOrder('challenges', 'id_challenge'),
  listOrder('environnements_virtuels', 'id_environnement_virtuel'),
  {
    pattern: 'validations/%',
    entries: `select 'validations/' || id_challenge as arbre, date as cle, id_auteur as id from validations`,
  },
]

/** The whole list of a table, by id. */
function listOrder(table: string, id: string): { pattern: string; entries: string } {
  return { pattern: table, entries: `select '${table}' as arbre, 0 as cle, ${id} as id from ${table}` }
}
