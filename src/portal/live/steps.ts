import { isDeepStrictEqual } from 'node:util'
import { type Db, makeScratch } from '../../store/store.js'
import { emptyLot, type Lot, lotOf, lotsOf } from '../lot.js'
import type { ParsedLine } from '../parse.js'
import { type RecordKind, recordKinds } from '../records.js'
import { LIVE_TYPES, type Rules, removals, upserts } from './rules.js'
import { checkTouched } from './touched.js'

/** A line of a batch with its number in it. */
export interface NumberedLine extends ParsedLine {
  number: number
}

/** Lines of a batch that are applied together: all of one kind, all writing or all removing, no record twice. */
export interface Step {
  kind: RecordKind
  isRemoval: boolean
  lines: NumberedLine[]
  /** Lines that say the same as one before them in the step. */
  repeats: { number: number; of: number }[]
}

/** What a step did: the lines whose record was as it says already, and those that are refused, with the reason. */
export interface StepOutcome {
  known: Set<number>
  refused: Map<number, string>
}

/** Cuts lines into steps, in their order. */
export function stepsOf(lines: readonly NumberedLine[]): Step[] {
  const steps: Step[] = []
  let byKey = new Map<string, NumberedLine>()
  for (const line of lines) {
    const { kind, isRemoval } = line
    const key = line.row.slice(0, kind.key.length).join(' ')
    const last = steps.at(-1)
    const isAlike = last && last.kind === kind && last.isRemoval === isRemoval
    const same = byKey.get(key)
    if (isAlike && !same) last.lines.push(line)
    else if (isAlike && same && isDeepStrictEqual(same.row, line.row)) {
      last.repeats.push({ number: line.number, of: same.number })
      continue
    } else {
      steps.push({ kind, isRemoval, lines: [line], repeats: [] })
      byKey = new Map()
    }
    byKey.set(key, line)
  }
  return steps
}

/** Makes what steps need on a connection, where it is missing. */
export async function makeLots(db: Db): Promise<void> {
  const kinds = recordKinds.filter(({ type }) => LIVE_TYPES.includes(type))
  await Promise.all([
    ...kinds.flatMap(lotsOf).map((lot) => makeScratch(db, lotOf(lot.table), emptyLot(lot))),
    db.exec(
      'create index if not exists lot_challenges_auteurs_cle on lot_challenges_auteurs (id_challenge, id_auteur)',
    ),
  ])
}

/** Applies one step: its lines see all that came before. Throws `PointsError`. */
export async function applyStep(db: Db, { kind, isRemoval, lines }: Omit<Step, 'repeats'>): Promise<StepOutcome> {
  const rules = (isRemoval ? removals : upserts)[kind.type] as Rules
  await loadLots(db, kind, isRemoval, lines)
  const isParted = lines.length > 1 && rules.isParted && (await db.select(rules.isParted)).length > 0
  const outcome = isParted ? undefined : await applyLots(db, kind, lines.length, rules)
  for (const { table } of lotsOf(kind)) await db.exec(`delete from ${lotOf(table)}`)
  if (outcome) return outcome
  const parts: StepOutcome[] = []
  for (const line of lines) parts.push(await applyStep(db, { kind, isRemoval, lines: [line] }))
  return {
    known: new Set(parts.flatMap(({ known }) => [...known])),
    refused: new Map(parts.flatMap(({ refused }) => [...refused])),
  }
}

async function loadLots(db: Db, kind: RecordKind, isRemoval: boolean, lines: NumberedLine[]): Promise<void> {
  const [own, listed] = lotsOf(kind) as [Lot, Lot?]
  const width = Object.keys(own.columns).length
  const rows = lines.map(({ number, row }) => filled([number, isRemoval ? 1 : 0, ...row], width))
  await db.load(lotOf(own.table), Object.keys(own.columns), rows)
  if (!listed) return
  const children = lines.flatMap((line) => line.children.map((child) => [line.number, ...child]))
  await db.load(lotOf(listed.table), Object.keys(listed.columns), children)
}

async function applyLots(db: Db, kind: RecordKind, count: number, rules: Rules): Promise<StepOutcome> {
  for (const sql of rules.prepare ?? []) await db.exec(sql)
  const refused = new Map<number, string>()
  for (const { select, reason } of rules.refusals) {
    for (const { ligne, id } of await db.select<{ ligne: number; id: number }>(select)) refused.set(ligne, reason(id))
  }
  await drop(db, kind, [...refused.keys()])
  const rows = await db.select<{ ligne: number }>(rules.known)
  const known = rows.map(({ ligne }) => ligne)
  await drop(db, kind, known)
  if (refused.size + known.length < count) {
    await rules.apply(db)
    await checkTouched(db)
  }
  return { known: new Set(known), refused }
}

function filled(row: unknown[], width: number): unknown[] {
  return [...row, ...Array.from({ length: width - row.length }, () => null)]
}

/** Takes lines out of a lot. */
async function drop(db: Db, kind: RecordKind, lines: readonly number[]): Promise<void> {
  for (const { table } of lotsOf(kind)) {
    for (let from = 0; from < lines.length; from += DROPPED_AT_ONCE) {
      const list = lines.slice(from, from + DROPPED_AT_ONCE).join(', ')
      await db.exec(`delete from ${lotOf(table)} where ligne in (${list})`)
    }
  }
}

const DROPPED_AT_ONCE = 500
