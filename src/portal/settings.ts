import { formatInstant, parseInstant } from '../instant.js'
import { type SettingName, type SettingValue, STORE_SETTINGS } from '../model/store-settings.js'
import { EVERYTHING } from '../store/journal.js'
import { gelOf, readSetting, writeSetting } from '../store/settings.js'
import type { Db, Store } from '../store/store.js'
import { derive, type OnStep } from './derive.js'
import type { ImportStage } from './import.js'
import { inBatch } from './live/batch.js'
import { type Unfrozen, unfreeze } from './live/unfreeze.js'

/** What else changes with a setting. */
const EFFECTS: Readonly<Partial<Record<SettingName, typeof derive>>> = {
  statuts_masques: derive,
  departage: rankAgain,
}

/** Every entry gets another key. To remove all of them at once takes a fraction of the time of comparing them. */
async function rankAgain(db: Db, onStep?: OnStep, onOrder?: OnStep): Promise<void> {
  await db.exec('delete from classements')
  await derive(db, onStep, onOrder)
}

/**
 * Sets a setting, or unsets it, and changes what follows from it in the same transaction: a reader sees all of it or nothing.
 * Returns whether the value changed.
 */
export async function changeSetting<N extends Exclude<SettingName, 'gel'>>(
  store: Store,
  name: N,
  value: SettingValue<N> | undefined,
  onStage: (stage: ImportStage, done: number, of: number) => void = () => undefined,
): Promise<boolean> {
  const text = JSON.stringify(value ?? STORE_SETTINGS[name].default)
  const differs = async (db: Db) => JSON.stringify(await readSetting(db, name)) !== text
  if (!(await store.read(differs))) return false
  const effect = EFFECTS[name]
  if (!effect) {
    await store.write({ donnees: [{ type: 'reglage' }] }, (db) => writeSetting(db, name, value), 'donnees')
    return true
  }
  let isChanged = false
  const mergeData = async (db: Db) => {
    isChanged = await differs(db)
    if (!isChanged) return false
    await writeSetting(db, name, value)
    const stepOf = (stage: ImportStage) => (done: number, of: number) => onStage(stage, done, of)
    await effect(db, stepOf('derive'), stepOf('order'))
    return true
  }
  await store.bulk(
    { withAccounts: false, rewritesAll: true, mergeData, onStage },
    async () => undefined,
    async () => ({ change: isChanged ? { donnees: EVERYTHING } : {} }),
  )
  return isChanged
}

export interface GelChange extends Unfrozen {
  isChanged: boolean
}

/**
 * Sets the setting `gel`, or unsets it, and applies what is no longer frozen: all of it, or what is dated up to a later instant.
 * It is one live batch, however long it takes, and the journal has the same lines. `onRefused` is called before the commit.
 */
export function changeGel(
  store: Store,
  value: string | undefined,
  onRefused: (refused: Unfrozen['refused']) => void = () => undefined,
): Promise<GelChange> {
  return inBatch(store, async (batch, db) => {
    const before = gelOf(batch.settings)
    const now = value === undefined ? undefined : parseInstant(value)
    const isChanged = before !== now
    if (isChanged) {
      await writeSetting(db, 'gel', now === undefined ? undefined : formatInstant(now))
      batch.note(...EVERYTHING)
    }
    const isLater = before !== undefined && (now === undefined || now > before)
    const unfrozen = isLater ? await unfreeze(batch, db, now) : { applied: 0, known: 0, refused: [] }
    if (unfrozen.refused.length > 0) onRefused(unfrozen.refused)
    return { isChanged, ...unfrozen }
  })
}
