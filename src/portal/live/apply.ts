import type { Kind } from '../../model/kind.js'
import { KINDS } from '../../model/kinds.js'
import { fixed } from '../../store/query.js'
import { type Db, makeScratch } from '../../store/store.js'
import { emptyLot, type Lot, lotOf, lotsOf } from '../lot.js'
import { rulesOf } from './frozen.js'
import { completionOf, missing } from './partial.js'
import { knownOf, MAX_WEIGHT, type Rules } from './rules.js'
import type { NumberedLine, Step } from './steps.js'
import { checkTouched } from './touched.js'

/** Why a line is refused, and whether it may be sent again as it is. */
export interface Refusal {
  raison: string
  reessayer?: true
}

/**
 * What became of a line: the record is as the line says already, the line is refused, or what it changed is not shown: it is
 * frozen, or a removal of something frozen is applied.
 */
export type Outcome = 'connue' | 'gelee' | 'appliquee' | Refusal

/** The outcome of each line of a step, but for those that were applied and are shown. */
export type StepOutcome = ReadonlyMap<number, Outcome>

/** Makes what steps need on a connection, where it is missing. */
export async function makeLots(db: Db): Promise<void> {
  const kinds = KINDS.filter(({ isLive }) => isLive)
  await Promise.all([
    ...kinds.flatMap(liveLotsOf).map((lot) => makeScratch(db, lotOf(lot.table), emptyLot(lot))),
    db.exec(
      'create index if not exists lot_challenges_auteurs_cle on lot_challenges_auteurs (id_challenge, id_auteur)',
    ),
    makeScratch(db, 'lot_lignes', 'select cast(null as bigint) as ligne from etat where false'),
  ])
}

/** The lots of a kind; of a line, `absents` says which fields it does not name, and is null where it is a whole record. */
function liveLotsOf(kind: Kind): [own: Lot, ...listed: Lot[]] {
  const [own, ...listed] = lotsOf(kind) as [Lot, ...Lot[]]
  return [{ ...own, columns: { ...own.columns, absents: 'bigint' } }, ...listed]
}

/**
 * Applies one step: its lines see all that came before. Validations later than `gel` are frozen. Undefined where it is to be
 * halved first. Throws `PointsError`.
 */
export async function applyStep(db: Db, step: Step, gel: number | undefined): Promise<StepOutcome | undefined> {
  const { kind, isRemoval, lines } = step
  const rules = rulesOf(step, gel)
  await loadLots(db, kind, isRemoval, lines)
  const known = rules.known ?? knownOf(kind, isRemoval)
  const outcome = await applyLots(db, kind, lines, { ...rules, known })
  await Promise.all(lotsOf(kind).map(({ table }) => db.exec(`delete from ${lotOf(table)}`)))
  return outcome
}

async function loadLots(db: Db, kind: Kind, isRemoval: boolean, lines: readonly NumberedLine[]): Promise<void> {
  const [own, listed] = liveLotsOf(kind)
  await db.load(lotOf(own.table), Object.keys(own.columns), rowsOf(lines, isRemoval))
  if (listed) await db.load(lotOf(listed.table), Object.keys(listed.columns), listedIn(lines))
}

function* rowsOf(lines: readonly NumberedLine[], isRemoval: boolean): Generator<unknown[]> {
  for (const { number, row, absents } of lines) yield [number, isRemoval ? 1 : 0, ...row, absents ?? null]
}

/** The rows of the lists in lines. */
function* listedIn(lines: readonly NumberedLine[]): Generator<unknown[]> {
  for (const { number, children } of lines) for (const child of children()) yield [number, ...child]
}

async function applyLots(
  db: Db,
  kind: Kind,
  lines: readonly NumberedLine[],
  rules: Rules & { known: string },
): Promise<StepOutcome | undefined> {
  const hasPartial = lines.some(({ absents }) => absents !== undefined)
  const preparing = [...(hasPartial ? completionOf(kind) : []), ...(rules.prepare ?? [])]
  const refusing = [...(rules.refusals ?? []), ...(hasPartial ? [missing(kind, rules.alsoIn)] : [])]
  const find = <R>(select: string) => db.select<{ ligne: number } & R>(select)
  const { unseen } = rules
  const prepared = Promise.all(preparing.map((sql) => db.exec(sql)))
  const [known, hidden, ...refusals] = await Promise.all([
    prepared.then(() => find(rules.known)),
    unseen ? prepared.then(() => find<{ resultat: 'gelee' | 'appliquee' }>(unseen)) : [],
    ...refusing.map(({ select }) => find<{ id: number | string }>(select)),
  ])
  const outcome = new Map<number, Outcome>(known.map(({ ligne }) => [ligne, 'connue']))
  for (const [i, found] of refusals.entries()) {
    for (const { ligne, id } of found) outcome.set(ligne, { raison: refusing[i]!.reason(id) })
  }
  const left = lines.length - outcome.size
  if (left > 0) {
    await drop(db, kind, [...outcome.keys()])
    const isAlone = left === 1
    const [weight] = rules.weight && !isAlone ? await db.select<{ poids: number }>(rules.weight) : []
    if (weight && weight.poids > MAX_WEIGHT) return undefined
    const [between] = rules.between && !isAlone ? await db.select<{ points: number }>(rules.between) : []
    await rules.apply(db)
    await checkTouched(db, between?.points ?? 0)
  }
  for (const { ligne, resultat } of hidden) if (!outcome.has(ligne)) outcome.set(ligne, resultat)
  return outcome
}

/** Takes lines out of a lot. */
async function drop(db: Db, kind: Kind, lines: readonly number[]): Promise<void> {
  if (lines.length === 0) return
  await db.load(
    'lot_lignes',
    ['ligne'],
    lines.map((line) => [line]),
  )
  const dropped = 'ligne in (select ligne from lot_lignes)'
  await Promise.all(lotsOf(kind).map(({ table }) => db.exec(`delete from ${lotOf(table)} where ${dropped}`)))
  await db.run(forgetLines)
}

const forgetLines = fixed('delete from lot_lignes')
