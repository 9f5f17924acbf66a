import { validations } from '../model/kinds.js'
import { readRecord, showFields } from '../model/line.js'
import { readGel } from '../store/settings.js'
import type { Db } from '../store/store.js'
import type { Faults } from './faults.js'
import { lotOf, sameKey } from './lot.js'

/*
 * While the setting `gel` is set, later validations are stored in the table `validations_gelees`, which no public response shows.
 * Imports, live lines and checks share this file. The rules of live lines are in `live/frozen.ts`.
 */

const LOT = lotOf(validations.table)

/** A condition: a line of the lot, `l`, is later than the instant, has no date (the year 10000), or is marked. */
export function isLate(gel: number): string {
  return `(l.date > ${gel} or coalesce(l.gelee, 0) = 1)`
}

/** Conditions: the validation of a row is shown already, or is frozen. */
export const isShown = (row: string) => `exists (select 1 from validations v where ${sameKey(validations, 'v', row)})`
export const isFrozen = (row: string) =>
  `exists (select 1 from validations_gelees g where ${sameKey(validations, 'g', row)})`

/** Stores lines of the lot, `l`, as frozen; a further condition may be about the frozen validation, `validations_gelees`. */
export function freezeLines(where: string, further = 'true'): string {
  return `insert into validations_gelees (id_auteur, id_challenge, date)
    select l.id_auteur, l.id_challenge, l.date from ${LOT} l where ${where} order by l.id_auteur, l.id_challenge
    on conflict (id_auteur, id_challenge) do update set date = excluded.date
    where validations_gelees.date <> excluded.date and ${further}`
}

export const NOT_FROZEN =
  'gelee needs the setting gel, which is not set; set it (palmares settings set gel INSTANT), or leave gelee out and the line is applied'

/** Adds a fault for each line that is marked while the setting is not set. */
export async function refuseMarked(db: Db, faults: Faults): Promise<void> {
  const marked = `select l.ligne from ${LOT} l where l.supprime = 0 and l.gelee = 1`
  await faults.addFound<{ ligne: number }>(db, `select ligne, ligne as id from (${marked}) as marked`, () => NOT_FROZEN)
}

/** How many frozen validations an import added, changed and removed. */
type FrozenTally = Record<'added' | 'changed' | 'removed', number>

/** Freezes the late lines of an import, after `mergeData`. Says what changed; undefined if the setting is not set. */
export async function mergeFrozen(db: Db, { replace }: { replace: boolean }): Promise<FrozenTally | undefined> {
  const gel = await readGel(db)
  if (gel === undefined) return undefined
  const late = `l.supprime = 0 and ${isLate(gel)}`
  const lineOf = (condition: string) =>
    `exists (select 1 from ${LOT} l where ${sameKey(validations, 'l', 'g')} and ${condition})`
  const removed = await db.exec(
    `delete from validations_gelees as g where ${replace ? `not ${lineOf(late)}` : lineOf(`not (${late})`)}`,
  )
  const taken = `${late} and not ${isShown('l')}`
  const [found] = await db.select<{ nb: number }>(
    `select count(*) as nb from ${LOT} l where ${taken} and not ${isFrozen('l')}`,
  )
  const added = Number(found?.nb)
  const written = await db.exec(freezeLines(taken))
  return { added, changed: written - added, removed }
}

/** Frozen validations that are shown too, or are frozen while the setting is not set, the first of them. */
export async function findWrongFrozen(db: Db, limit: number): Promise<string[]> {
  const where = (await readGel(db)) === undefined ? 'true' : isShown('f')
  const rows = await db.select<{ id_auteur: number; id_challenge: number }>(
    `select id_auteur, id_challenge from validations_gelees f where ${where}
     order by id_auteur, id_challenge limit ${limit}`,
  )
  return rows.map(({ id_auteur, id_challenge }) => `author ${id_auteur} and challenge ${id_challenge}`)
}

/**
 * Removes frozen validations that are shown too. While the setting is not set, the others are shown from now on; those whose
 * author or challenge is gone are removed. What follows from them is derived later.
 */
export async function repairFrozen(db: Db): Promise<void> {
  await db.exec(`delete from validations_gelees as f where ${isShown('f')}`)
  if ((await readGel(db)) !== undefined) return
  const rows = await db.select<Parameters<typeof toRow>[0]>(
    `select f.id_auteur, f.id_challenge, f.date from validations_gelees f
     join auteurs a on a.id_auteur = f.id_auteur join challenges c on c.id_challenge = f.id_challenge`,
  )
  await db.load(validations.table, [...validations.key, ...validations.columns], rows.map(toRow))
  await db.exec('delete from validations_gelees')
}

function toRow(row: { id_auteur: number; id_challenge: number; date: number }): unknown[] {
  const line = showFields(validations.fields, row)
  return readRecord(validations, line).row.slice(0, validations.key.length + validations.columns.length)
}
