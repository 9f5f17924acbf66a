import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LIVE_TYPES } from '../../model/kinds.js'
import { FieldError } from '../../model/readers.js'
import type { JournalEntry } from '../../store/changes.js'
import type { Change, Db, Store } from '../../store/store.js'
import type { Line } from '../lines.js'
import { parseLiveLine } from '../parse.js'
import { UnknownFieldsError } from '../unknown-fields.js'
import { applyStep, makeLots, type Refusal, type StepOutcome } from './apply.js'
import { halvesOf, type NumberedLine, type Step, stepsOf } from './steps.js'
import { makeTouched, PointsError, settle } from './touched.js'

/** How many characters are parsed in one turn of the event loop. A short line counts as more than its characters. */
const CHARACTERS_A_TURN = 65_536
const LINE_CHARACTERS = 100

/** The result of one line: applied, already known, or refused and why. */
export interface LineResult extends Partial<Refusal> {
  ligne: number
  resultat: 'appliquee' | 'connue' | 'refusee'
  /** Of a refused line: the fields that the type does not have, the first of them. */
  champs_inconnus?: string[]
}

/**
 * Except for the first, no step starts later than this after taking the lock; the rest is left to another batch. A running step
 * is not interrupted.
 */
const BATCH_MILLISECONDS = 2_000
const OUT_OF_TIME: Refusal = {
  raison: `not tried: what came before took ${BATCH_MILLISECONDS / 1000} s; send it again`,
  reessayer: true,
}

/**
 * Applies lines of the dump to a portal that is being served, in their order and in one transaction: each as an import of that
 * line alone would, with the exceptions of docs/DUMP.md (*Live lines*). A refused line does not affect the others. The cost
 * depends on what the lines touch, not on the size of the portal. Lines that come too late in the batch are refused with
 * `reessayer`: send them again, in their order. Blank lines have no result. Throws `StoreError`; nothing was applied then.
 */
export async function ingest(store: Store, lines: readonly Line[]): Promise<LineResult[]> {
  const results = new Map<number, LineResult>()
  const parsed: NumberedLine[] = []
  let characters = 0
  for (const line of lines) {
    characters += LINE_CHARACTERS + (line.text?.length ?? 0)
    if (characters > CHARACTERS_A_TURN) {
      characters = 0
      await nextTurn()
    }
    try {
      const read = parseLiveLine(line, LIVE_TYPES)
      if (read) parsed.push({ ...read, number: line.number })
    } catch (error) {
      if (!(error instanceof FieldError)) throw error
      results.set(line.number, unreadable(line.number, error))
    }
  }
  for (const result of await applyLines(store, parsed)) results.set(result.ligne, result)
  return [...results.values()].sort((a, b) => a.ligne - b.ligne)
}

function unreadable(ligne: number, error: FieldError): LineResult {
  const names = error instanceof UnknownFieldsError ? { champs_inconnus: error.names } : {}
  return { ligne, resultat: 'refusee', raison: error.message, ...names }
}

/** Applies well-formed lines. Retries with savepoints when a score may overflow midway. */
async function applyLines(store: Store, lines: readonly NumberedLine[]): Promise<LineResult[]> {
  if (lines.length === 0) return []
  let deadline: number | undefined
  const apply = (outcomeOf: OutcomeOf) => {
    const change: Change = {}
    const work = (db: Db) => {
      deadline ??= performance.now() + BATCH_MILLISECONDS
      return applyBatch(db, lines, change, { outcomeOf, deadline })
    }
    return store.write(change, work, 'donnees')
  }
  try {
    return await apply(applyStep)
  } catch (error) {
    if (error instanceof PointsError) return apply(applyCarefully)
    throw error
  }
}

/** Applies a step; returns undefined if it must be split first. */
type OutcomeOf = (db: Db, step: Step) => Promise<StepOutcome | undefined>

/** Rolls back a step that gives an author too many points. It is split until a single line is left, which is refused. */
async function applyCarefully(db: Db, step: Step): Promise<StepOutcome | undefined> {
  await db.exec('savepoint etape')
  const outcome = await applyStep(db, step).catch(async (error) => {
    // After any other fault there may be no transaction left to continue.
    if (!(error instanceof PointsError)) throw error
    await db.exec('rollback to savepoint etape')
    return step.lines.length > 1 ? undefined : allRefused(step, { raison: error.message })
  })
  await db.exec('release savepoint etape')
  return outcome
}

async function applyBatch(
  db: Db,
  lines: readonly NumberedLine[],
  change: Change,
  { outcomeOf, deadline }: { outcomeOf: OutcomeOf; deadline: number },
): Promise<LineResult[]> {
  const results: LineResult[] = []
  const entries: JournalEntry[] = []
  await Promise.all([makeLots(db), makeTouched(db)])
  const waiting = stepsOf(lines).reverse()
  for (let step = waiting.pop(); step; step = waiting.pop()) {
    const isLate = results.length > 0 && performance.now() > deadline
    const outcome = isLate ? allRefused(step, OUT_OF_TIME) : await outcomeOf(db, step)
    if (!outcome) {
      waiting.push(...halvesOf(step).reverse())
      continue
    }
    results.push(...resultsOf(step, outcome))
    entries.push(...step.lines.filter(({ number }) => !outcome.has(number)).map(entryOf))
  }
  if (entries.length > 0) {
    const rangs = await settle(db)
    if (Object.keys(rangs).length > 0) entries.push({ type: 'classement', rangs })
    change.donnees = entries
  }
  return results
}

function* resultsOf({ lines, repeats }: Step, outcome: StepOutcome): Generator<LineResult> {
  for (const { number } of lines) yield resultOf(number, outcome.get(number) ?? 'appliquee')
  for (const { number, of } of repeats) yield resultOf(number, outcome.get(of) ?? 'connue')
}

function resultOf(ligne: number, result: 'appliquee' | 'connue' | Refusal): LineResult {
  return typeof result === 'string' ? { ligne, resultat: result } : { ligne, resultat: 'refusee', ...result }
}

function allRefused({ lines }: Step, refusal: Refusal): StepOutcome {
  return new Map(lines.map(({ number }) => [number, refusal]))
}

function entryOf({ kind, isRemoval, row }: NumberedLine): JournalEntry {
  const ids = Object.fromEntries(kind.key.map((name, i) => [name, row[i] as number]))
  return { type: kind.type as JournalEntry['type'], supprime: isRemoval ? 1 : 0, ...ids }
}

/** The number of lines by result. */
export function tally(results: readonly LineResult[]): { appliquees: number; connues: number; refusees: number } {
  const count = (wanted: LineResult['resultat']) => results.filter(({ resultat }) => resultat === wanted).length
  return { appliquees: count('appliquee'), connues: count('connue'), refusees: count('refusee') }
}
