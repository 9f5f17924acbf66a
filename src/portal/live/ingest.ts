import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LIVE_TYPES } from '../../model/kinds.js'
import { FieldError } from '../../model/readers.js'
import type { Store } from '../../store/store.js'
import type { Line } from '../lines.js'
import { parseLiveLine } from '../parse.js'
import { UnknownFieldsError } from '../unknown-fields.js'
import type { Outcome, Refusal, StepOutcome } from './apply.js'
import { inBatch } from './batch.js'
import { type NumberedLine, type Step, stepsOf } from './steps.js'

/** How many characters are parsed in one turn of the event loop. A short line counts as more than its characters. */
const CHARACTERS_A_TURN = 65_536
const LINE_CHARACTERS = 100

/** The result of one line: applied, already known, frozen, or refused and why. */
export interface LineResult extends Partial<Refusal> {
  ligne: number
  resultat: 'appliquee' | 'connue' | 'gelee' | 'refusee'
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

/** Applies well-formed lines. */
async function applyLines(store: Store, lines: readonly NumberedLine[]): Promise<LineResult[]> {
  if (lines.length === 0) return []
  let deadline: number | undefined
  return inBatch(store, async (batch) => {
    deadline ??= performance.now() + BATCH_MILLISECONDS
    const end = deadline
    const results: LineResult[] = []
    const refuse = () => (results.length > 0 && performance.now() > end ? OUT_OF_TIME : undefined)
    for await (const { step, outcome } of batch.apply(stepsOf(lines), refuse)) results.push(...resultsOf(step, outcome))
    return results
  })
}

function* resultsOf({ lines, repeats }: Step, outcome: StepOutcome): Generator<LineResult> {
  for (const { number } of lines) yield resultOf(number, outcome.get(number) ?? 'appliquee')
  for (const { number, of } of repeats) yield resultOf(number, repeated(outcome.get(of)))
}

/** A line that is applied already when it comes again is known; a frozen one is frozen again. */
function repeated(outcome: Outcome = 'connue'): Outcome {
  return outcome === 'appliquee' ? 'connue' : outcome
}

function resultOf(ligne: number, result: Outcome): LineResult {
  return typeof result === 'string' ? { ligne, resultat: result } : { ligne, resultat: 'refusee', ...result }
}

/** The number of lines by result. */
export function tally(
  results: readonly LineResult[],
): Record<'appliquees' | 'connues' | 'refusees' | 'gelees', number> {
  const count = (wanted: LineResult['resultat']) => results.filter(({ resultat }) => resultat === wanted).length
  return {
    appliquees: count('appliquee'),
    connues: count('connue'),
    refusees: count('refusee'),
    gelees: count('gelee'),
  }
}
