import { isDeepStrictEqual } from 'node:util'
import type { Kind } from '../../model/kind.js'
import { LIVE_TYPES } from '../../model/kinds.js'
import type { ParsedLine } from '../parse.js'

/** A line of a batch, and its number there. */
export interface NumberedLine extends ParsedLine {
  number: number
}

/** Lines of a batch that are applied together: all of one kind, all writing or all removing, no record twice. */
export interface Step {
  kind: Kind
  isRemoval: boolean
  lines: NumberedLine[]
  /** Lines that are equal to an earlier one of the step. */
  repeats: { number: number; of: number }[]
}

/** A step that lines may still join. */
interface OpenStep extends Step {
  byKey: Map<string, NumberedLine>
  /** The first columns of its lines: of authors and validations, the author. */
  auteurs: Set<unknown>
}

/** How many steps back a line looks for one to join: the number of kinds of steps. */
const MAX_STEPS_BACK = 2 * LIVE_TYPES.length

/**
 * Groups lines into steps with the same result as the lines in their order. A line joins the latest step of its kind unless a
 * later step conflicts with it, so that a stream of new authors, each followed by a solve, is two steps.
 */
export function stepsOf(lines: readonly NumberedLine[]): Step[] {
  const steps: OpenStep[] = []
  for (const line of lines) {
    const { kind, isRemoval, number, row } = line
    const key = row.slice(0, kind.key.length).join(' ')
    let step = stepFor(steps, line, key)
    const same = step?.byKey.get(key)
    if (step && same) {
      step.repeats.push({ number, of: same.number })
      continue
    }
    if (!step) {
      step = { kind, isRemoval, lines: [], repeats: [], byKey: new Map(), auteurs: new Set() }
      steps.push(step)
    }
    step.lines.push(line)
    step.byKey.set(key, line)
    step.auteurs.add(row[0])
  }
  return steps
}

/** The step that a line joins; undefined if it starts a new one. */
function stepFor(steps: readonly OpenStep[], line: NumberedLine, key: string): OpenStep | undefined {
  for (const step of steps.slice(-MAX_STEPS_BACK).reverse()) {
    if (step.kind === line.kind && step.isRemoval === line.isRemoval) {
      const same = step.byKey.get(key)
      return !same || isRepeat(same, line) ? step : undefined
    }
    if (concerns(step, line)) return undefined
  }
  return undefined
}

function isRepeat(one: NumberedLine, other: NumberedLine): boolean {
  return one.absents === other.absents && isDeepStrictEqual(one.row, other.row)
}

/**
 * Whether a line conflicts with a step, and must be applied after it. Authors and validations conflict if they name the same
 * author, the first column of both. Otherwise challenges conflict with everything, and lines of one type with each other.
 */
function concerns(step: OpenStep, line: NumberedLine): boolean {
  const types = [step.kind.type, line.kind.type]
  const isOfAuteurs = types.every((type) => type === 'auteur' || type === 'validation')
  if (isOfAuteurs) return step.auteurs.has(line.row[0])
  return types.includes('challenge') || types[0] === types[1]
}

/** Splits a step into two that have the same result one after the other. */
export function halvesOf({ lines, repeats, ...step }: Step): Step[] {
  const middle = lines.length >> 1
  return [lines.slice(0, middle), lines.slice(middle)].map((half) => {
    const numbers = new Set(half.map(({ number }) => number))
    return { ...step, lines: half, repeats: repeats.filter(({ of }) => numbers.has(of)) }
  })
}
