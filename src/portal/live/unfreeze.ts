import { FIRST_SECOND, LAST_SECOND } from '../../instant.js'
import { validations } from '../../model/kinds.js'
import { readRecord, showFields } from '../../model/line.js'
import type { Db } from '../../store/store.js'
import { isShown } from '../frozen.js'
import type { Outcome } from './apply.js'
import type { Batch } from './batch.js'
import type { NumberedLine } from './steps.js'

/** How many frozen validations are in memory at once. */
const STEP_LINES = 1_000

/** What became of validations that were frozen. */
export interface Unfrozen {
  applied: number
  known: number
  /** Those that could not be applied, as lines of the dump, and why. */
  refused: { line: Record<string, unknown>; reason: string }[]
}

interface Frozen {
  id_auteur: number
  id_challenge: number
  date: number
}

/** Applies frozen validations up to an instant, or all of them, in the order of their dates. If an instant is given, refused ones stay frozen. */
export async function unfreeze(batch: Batch, db: Db, until: number | undefined): Promise<Unfrozen> {
  const unfrozen: Unfrozen = { applied: 0, known: 0, refused: [] }
  batch.gel = undefined
  const end = until ?? LAST_SECOND + 1
  let rows = await selectAfter(db, { date: FIRST_SECOND - 1, id_auteur: 0, id_challenge: 0 }, end)
  for (let last = rows.at(-1); last; last = rows.at(-1)) {
    const lines = rows.map(toLine)
    const step = { kind: validations, isRemoval: false, lines, repeats: [] }
    for await (const { step: part, outcome } of batch.apply([step])) {
      for (const { number } of part.lines) count(unfrozen, rows[number - 1] as Frozen, outcome.get(number))
    }
    rows = await selectAfter(db, last, end)
  }
  await db.exec(`delete from validations_gelees as f where ${until === undefined ? 'true' : isShown('f')}`)
  return unfrozen
}

function selectAfter(db: Db, { date, id_auteur, id_challenge }: Frozen, end: number): Promise<Frozen[]> {
  return db.select<Frozen>(
    `select id_auteur, id_challenge, date from validations_gelees
     where (date, id_auteur, id_challenge) > (?, ?, ?) and date <= ?
     order by date, id_auteur, id_challenge limit ${STEP_LINES}`,
    ...[date, id_auteur, id_challenge, end],
  )
}

function toLine(row: Frozen, index: number): NumberedLine {
  const record = readRecord(validations, shown(row))
  return { kind: validations, isRemoval: false, ...record, unknownFields: [], number: index + 1 }
}

function shown(row: Frozen): Record<string, unknown> {
  return showFields(validations.fields, { ...row })
}

function count(unfrozen: Unfrozen, row: Frozen, outcome: Outcome | undefined): void {
  if (outcome === 'connue') unfrozen.known++
  else if (typeof outcome === 'object') {
    unfrozen.refused.push({ line: { type: validations.type, ...shown(row), gelee: true }, reason: outcome.raison })
  } else unfrozen.applied++
}
