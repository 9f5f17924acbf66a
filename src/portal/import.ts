import { nowSeconds } from '../instant.js'
import type { TieBreak } from '../model/store-settings.js'
import { EVERYTHING } from '../store/journal.js'
import { readSetting, writeSetting } from '../store/settings.js'
import type { Change, Db, Store } from '../store/store.js'
import { derive, derivePoints, MAX_POINTS } from './derive.js'
import { Faults } from './faults.js'
import { mergeFrozen } from './frozen.js'
import { readLines } from './lines.js'
import { lotOf } from './lot.js'
import { hasChanged, type MergeOptions, mergeAccounts, mergeData, type Tally } from './merge.js'
import { type Staged, Stager } from './stage.js'

/** What an import does one after the other: a store may copy and fill, or do without; a part may be done over. */
export type ImportStage = 'read' | 'settle' | 'copy' | 'merge' | 'check' | 'derive' | 'order' | 'fill' | 'commit'

export interface ImportOptions extends Omit<MergeOptions, 'onStep'> {
  /** Whether a dump without records must not replace the portal. */
  refusesEmpty?: boolean
  /** Sets the setting `departage` in the same transaction. */
  departage?: TieBreak | undefined
  /** The stage under way, and how much of it is done: for `read` lines, for `fill` rows, else steps; `of` all, where that is known. */
  onProgress?: (stage: ImportStage, done: number, of?: number) => void
}

export interface ImportReport {
  lines: number
  tallies: Tally[]
  /** Authors whose base moved, those who are new included: what they have besides what they solved. */
  rebased: number
  /** Whether `departage` had another value. */
  isDepartageChanged: boolean
  /** Fields that were left out, with how often they came. */
  unknownFields: Map<string, number>
  /** The logins of accounts that are gone, most of them as their authors are. */
  removedAccounts: string[]
}

/** What was to be imported has faults, so nothing was changed. The message lists the first of them, one a line. */
export class ImportError extends Error {
  constructor(
    readonly faults: Faults,
    readonly what: 'dump' | 'file' = 'dump',
  ) {
    const { shown, rest } = faults
    super([...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join('\n'))
    this.name = 'ImportError'
  }
}

/** Nothing is to be merged: the transaction ends as it began. */
class Unchanged extends Error {
  constructor(readonly tallies: Tally[]) {
    super('nothing changed')
  }
}

/**
 * Imports a dump whole or not at all. The lines are read and checked beside the store, with no lock; then they are
 * merged, and all that follows from them is derived, in one transaction. Throws `ImportError` or `StoreError`.
 */
export async function importDump(
  store: Store,
  bytes: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<ImportReport> {
  const faults = new Faults()
  let staged: Staged = { lines: 0, records: 0, unknownFields: new Map() }
  const report = options.onProgress ?? (() => undefined)
  const stepOf = (stage: ImportStage) => (done: number, of: number) => report(stage, done, of)

  const stage = async (db: Db) => {
    const onLines = (lines: number) => report('read', lines)
    const { withAccounts } = options
    const stager = new Stager(db, faults, { withAccounts, onProgress: onLines, onStep: stepOf('settle') })
    staged = await stager.run(readLines(bytes))
    if (options.replace && options.refusesEmpty && staged.records === 0) {
      faults.add(undefined, 'there are no records, so --replace would empty the portal')
    }
    throwIfAny(faults)
  }
  let ofData: Tally[] = []
  let rebased = 0
  let isDepartageChanged = false
  let isDataChanged = false
  const mergeAllData = async (db: Db): Promise<boolean> => {
    ofData = await mergeData(db, { ...options, onStep: stepOf('merge'), onCheck: stepOf('check') }, faults)
    throwIfAny(faults)
    rebased = await setBases(db)
    isDepartageChanged = await setDepartage(db, options.departage)
    isDataChanged = hasChanged(ofData) || rebased > 0 || isDepartageChanged
    if (!isDataChanged) return false
    await checkPoints(db, faults)
    throwIfAny(faults)
    await derive(db, stepOf('derive'), stepOf('order'))
    return true
  }
  const mergeRest = async (db: Db): Promise<{ change: Change; tallies: Tally[]; removedAccounts: string[] }> => {
    const { tallies: ofAccounts, removedAccounts } = await mergeAccounts(db, options, faults)
    throwIfAny(faults)
    const frozen = await mergeFrozen(db, options)
    const tallies = [...ofData, ...ofAccounts, ...(frozen ? [{ type: 'validation gelee', ...frozen, listed: 0 }] : [])]
    if (!isDataChanged && !hasChanged(tallies)) throw new Unchanged(tallies)
    await db.exec('update etat set dernier_import = ?', nowSeconds())
    // What is frozen is not shown, so no version moves.
    const isShown = isDataChanged || hasChanged(ofAccounts)
    const change = { donnees: isShown ? EVERYTHING : [], comptes: mayEndCredentials(tallies) }
    return { change, tallies, removedAccounts }
  }

  try {
    const { withAccounts, departage } = options
    const rewritesAll = departage !== undefined && (await store.read((db) => differs(db, departage)))
    const { tallies, removedAccounts } = await store.bulk(
      { withAccounts, rewritesAll, mergeData: mergeAllData, onStage: report },
      stage,
      mergeRest,
    )
    return { ...staged, tallies, rebased, isDepartageChanged, removedAccounts }
  } catch (error) {
    if (error instanceof Unchanged) {
      return { ...staged, tallies: error.tallies, rebased: 0, isDepartageChanged, removedAccounts: [] }
    }
    throw error
  }
}

async function setDepartage(db: Db, departage: TieBreak | undefined): Promise<boolean> {
  const isChanged = await differs(db, departage)
  if (isChanged) await writeSetting(db, 'departage', departage)
  return isChanged
}

async function differs(db: Db, departage: TieBreak | undefined): Promise<boolean> {
  return departage !== undefined && departage !== (await readSetting(db, 'departage'))
}

/** Accounts may have changed, or gone with their author. */
function mayEndCredentials(tallies: readonly Tally[]): boolean {
  return tallies.some((tally) =>
    tally.type === 'compte' ? hasChanged([tally]) : tally.type === 'auteur' && tally.removed > 0,
  )
}

/**
 * The base of each imported author: what makes the total the line's score at the end of this import, or 0 where the
 * line has none. Says how many moved.
 */
async function setBases(db: Db): Promise<number> {
  await derivePoints(db)
  return db.exec(
    `update auteurs set base = n.base
     from (select l.id_auteur, coalesce(l.base_voulue, l.score_voulu - coalesce(p.points, 0), 0) as base
       from ${lotOf('auteurs')} l left join lot_points p on p.id_auteur = l.id_auteur where l.supprime = 0) as n
     where n.id_auteur = auteurs.id_auteur and auteurs.base <> n.base`,
  )
}

/** The points of an author and the total must stay numbers that JSON carries exactly, and so the base between them. */
async function checkPoints(db: Db, faults: Faults): Promise<void> {
  await faults.addFound<{ ligne: null; id_auteur: number }>(
    db,
    `select null as ligne, a.id_auteur from auteurs a join lot_points p on p.id_auteur = a.id_auteur
     where p.points > ${MAX_POINTS} or a.base + p.points > ${MAX_POINTS}`,
    ({ id_auteur }) => `the points of auteur ${id_auteur}, with the base or without, would pass ${MAX_POINTS}`,
  )
}

function throwIfAny(faults: Faults): void {
  if (faults.count > 0) throw new ImportError(faults)
}
