import { formatInstant } from '../../instant.js'
import type { Db } from '../../store/store.js'
import { type ChallengeTable, UNKNOWN_DATE } from '../../store/tables.js'
import { type Walk, walk } from '../../store/walk.js'

/** A record or a row that is exported, its fields in the order of the wire. */
export type Row = Record<string, unknown>
export type Present<R> = (db: Db, rows: R[]) => Row[] | Promise<Row[]>

/** Rows read at a time: so few that what becomes of them holds the event loop a few milliseconds at most. */
export const SHORT_ROWS = 500
/** The same of rows that may hold texts of a million characters. */
export const LONG_ROWS = 20

/** What a walk finds, as it is exported. */
export async function* presented<R>(db: Db, where: Walk, present: Present<R>): AsyncGenerator<Row[]> {
  for await (const rows of walk<R>(db, where)) yield await present(db, rows)
}

/** Who wrote each of some challenges, ids ascending. */
export async function auteursOf(db: Db, rows: ChallengeTable[]): Promise<(row: ChallengeTable) => number[]> {
  const written = await db.select<{ id_challenge: number; id_auteur: number }>(
    'select id_challenge, id_auteur from challenges_auteurs where id_challenge between ? and ? order by id_challenge, id_auteur',
    ...range(rows, 'id_challenge'),
  )
  const auteurs = groupBy(written, (row) => row.id_challenge)
  return ({ id_challenge }) => (auteurs.get(id_challenge) ?? []).map(({ id_auteur }) => id_auteur)
}

/** The first and the last value of a column that the rows are in the order of. */
export function range<R>(rows: R[], column: keyof R): [unknown, unknown] {
  return [rows[0]?.[column], rows.at(-1)?.[column]]
}

export function groupBy<R>(rows: R[], keyOf: (row: R) => number): Map<number, R[]> {
  const groups = new Map<number, R[]>()
  for (const row of rows) {
    const group = groups.get(keyOf(row))
    if (group) group.push(row)
    else groups.set(keyOf(row), [row])
  }
  return groups
}

export function instant(seconds: number | null): string | null {
  return seconds === null ? null : formatInstant(seconds)
}

export function validationDate(seconds: number): string | null {
  return seconds === UNKNOWN_DATE ? null : formatInstant(seconds)
}
