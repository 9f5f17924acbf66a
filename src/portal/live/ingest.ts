import { setImmediate as nextTurn } from 'node:timers/promises'

import type { Change, JournalEntry, Store } from '../../store/store.js'
import { FieldError } from '../fields.js'
import type { Line } from '../lines.js'
import { parseLine } from '../parse.js'
import { LIVE_TYPES } from './rules.js'
import { applyStep, makeLots, type NumberedLine, stepsOf } from './steps.js'
import { makeTouched, PointsError, settle } from './touched.js'

/** Lines are read so much at a time, so that nothing else waits long; a short one costs more than its characters. */
const CHARACTERS_A_TURN = 65_536
const LINE_CHARACTERS = 100

/** What became of one line: applied, known already, or refused and why. */
export interface LineResult {
  ligne: number
  resultat: 'appliquee' | 'connue' | 'refusee'
  raison?: string
}

/**
 * Applies lines of the dump to a portal that is being served, one after the other and in one transaction: each as an import
 * of that line alone would, save that a line which is refused leaves the others be. Costs what the lines touch, not the
 * portal. Blank lines have no result. Throws `StoreError`; then nothing was applied, and the same lines may be sent again.
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
      const read = parseLine(line)
      if (read) parsed.push({ ...allowed(read), number: line.number })
    } catch (error) {
      if (!(error instanceof FieldError)) throw error
      results.set(line.number, { ligne: line.number, resultat: 'refusee', raison: error.message })
    }
  }
  for (const result of await applyLines(store, parsed)) results.set(result.ligne, result)
  return [...results.values()].sort((a, b) => a.ligne - b.ligne)
}

function allowed<T extends { kind: { type: string }; isRemoval: boolean }>(line: T): T {
  const { kind, isRemoval } = line
  if (!LIVE_TYPES.includes(kind.type)) throw new FieldError(`type must be one of ${LIVE_TYPES.join(', ')}`)
  if (isRemoval && kind.type === 'auteur') throw new FieldError('an auteur is removed by an import alone')
  return line
}

/** Applies lines that are well-formed. Where the sum of some author's points is too large, the line to blame is found by halving. */
async function applyLines(store: Store, lines: readonly NumberedLine[]): Promise<LineResult[]> {
  if (lines.length === 0) return []
  try {
    return await applyBatch(store, lines)
  } catch (error) {
    if (!(error instanceof PointsError)) throw error
    const [first] = lines
    if (lines.length === 1) return [{ ligne: first!.number, resultat: 'refusee', raison: error.message }]
    const middle = lines.length >> 1
    return [...(await applyLines(store, lines.slice(0, middle))), ...(await applyLines(store, lines.slice(middle)))]
  }
}

function applyBatch(store: Store, lines: readonly NumberedLine[]): Promise<LineResult[]> {
  const change: Change = {}
  return store.write(
    change,
    async (db) => {
      const results: LineResult[] = []
      const entries: JournalEntry[] = []
      await Promise.all([makeLots(db), makeTouched(db)])
      for (const step of stepsOf(lines)) {
        const { known, refused } = await applyStep(db, step)
        for (const line of step.lines) {
          const { number: ligne } = line
          const raison = refused.get(ligne)
          if (raison !== undefined) results.push({ ligne, resultat: 'refusee', raison })
          else results.push({ ligne, resultat: known.has(ligne) ? 'connue' : 'appliquee' })
          if (raison === undefined && !known.has(ligne)) entries.push(entryOf(line))
        }
        for (const { number: ligne, of } of step.repeats) {
          const raison = refused.get(of)
          results.push(raison === undefined ? { ligne, resultat: 'connue' } : { ligne, resultat: 'refusee', raison })
        }
      }
      if (entries.length > 0) {
        const rangs = await settle(db)
        if (Object.keys(rangs).length > 0) entries.push({ type: 'classement', rangs })
        change.donnees = entries
      }
      return results
    },
    'donnees',
  )
}

function entryOf({ kind, isRemoval, row }: NumberedLine): JournalEntry {
  const ids = Object.fromEntries(kind.key.map((name, i) => [name, row[i] as number]))
  return { type: kind.type as JournalEntry['type'], supprime: isRemoval ? 1 : 0, ...ids }
}

/** How many lines became what. */
export function tally(results: readonly LineResult[]): { appliquees: number; connues: number; refusees: number } {
  const count = (wanted: LineResult['resultat']) => results.filter(({ resultat }) => resultat === wanted).length
  return { appliquees: count('appliquee'), connues: count('connue'), refusees: count('refusee') }
}
