import { formatInstant, UNKNOWN_DATE } from '../instant.js'
import type { Db } from '../store/store.js'
import { idFieldOf, NOUNS, type Noun, type PlainNoun } from './source.js'

/** The records of the copy, with what a pass must know of each. */
export interface Known extends Record<PlainNoun | 'auteurs', Set<number>> {
  rubriques: Map<number, string>
  /** With their scores. */
  challenges: Map<number, number>
}

export async function findKnown(db: Db): Promise<Known> {
  const rubriques = await db.select<{ id: number; nom: string }>('select id_rubrique as id, nom from rubriques')
  const challenges = await db.select<{ id: number; score: number }>('select id_challenge as id, score from challenges')
  const known = {
    rubriques: new Map(rubriques.map(({ id, nom }) => [id, nom])),
    challenges: new Map(challenges.map(({ id, score }) => [id, score])),
  } as Known
  for (const noun of NOUNS) if (noun !== 'challenges') known[noun] = await findIds(db, noun)
  return known
}

async function findIds(db: Db, noun: Noun): Promise<Set<number>> {
  const rows = await db.select<{ id: number }>(`select ${idFieldOf(noun)} as id from ${noun}`)
  return new Set(rows.map(({ id }) => id))
}

/**
 * The derived values of a record in the copy: for an author the points of the solves, which change with the challenges; for a
 * challenge the number of its authors. If they changed since the answer was read, the answer is read again, even if it is
 * unchanged.
 */
export async function readingsOf(db: Db, noun: Noun, ids: readonly number[]): Promise<Map<number, string>> {
  if ((noun !== 'auteurs' && noun !== 'challenges') || ids.length === 0) return new Map()
  const marks = ids.map(() => '?').join(', ')
  const select =
    noun === 'auteurs'
      ? `select v.id_auteur as id, sum(c.score) as lecture from validations v
         join challenges c on c.id_challenge = v.id_challenge where v.id_auteur in (${marks}) group by v.id_auteur`
      : `select id_challenge as id, count(*) as lecture from challenges_auteurs where id_challenge in (${marks})
         group by id_challenge`
  const rows = await db.select<{ id: number; lecture: number }>(select, ...ids)
  return new Map(rows.map(({ id, lecture }) => [id, String(lecture)]))
}

/** An author of the copy, with the dates of the solves, frozen ones too; undefined if the copy lacks the author. */
export async function findAuteur(
  db: Db,
  id: number,
): Promise<{ auteur: Record<string, unknown>; validations: Map<number, string | null> } | undefined> {
  const [auteur] = await db.select<Record<string, unknown>>('select * from auteurs where id_auteur = ?', id)
  if (!auteur) return undefined
  const rows = await db.select<{ id_challenge: number; date: number }>(
    `select id_challenge, date from validations where id_auteur = ?
     union all select id_challenge, date from validations_gelees where id_auteur = ?`,
    ...[id, id],
  )
  const dateOf = (date: number) => (date === UNKNOWN_DATE ? null : formatInstant(date))
  return { auteur, validations: new Map(rows.map(({ id_challenge, date }) => [id_challenge, dateOf(date)])) }
}

/** The authors with an account in this store, or only the one with an id, with one login of each. */
export async function findLogins(db: Db, idAuteur?: number): Promise<Map<number, string>> {
  const select = 'select id_auteur, min(login) as login from comptes'
  const rows = await (idAuteur === undefined
    ? db.select<{ id_auteur: number; login: string }>(`${select} group by id_auteur`)
    : db.select<{ id_auteur: number; login: string }>(`${select} where id_auteur = ? group by id_auteur`, idAuteur))
  return new Map(rows.map(({ id_auteur, login }) => [id_auteur, login]))
}

/** Categories that no challenge uses. */
export async function findUnusedRubriques(db: Db): Promise<number[]> {
  const rows = await db.select<{ id: number }>(
    `select id_rubrique as id from rubriques r
     where not exists (select 1 from challenges c where c.id_rubrique = r.id_rubrique)`,
  )
  return rows.map(({ id }) => id)
}
