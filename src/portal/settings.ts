import { type SettingName, type SettingValue, STORE_SETTINGS } from '../model/store-settings.js'
import { EVERYTHING } from '../store/journal.js'
import { readSetting, writeSetting } from '../store/settings.js'
import type { Db, Store } from '../store/store.js'
import { derive } from './derive.js'
import type { ImportStage } from './import.js'

/** What else changes with a setting. */
const EFFECTS: Readonly<Partial<Record<SettingName, typeof derive>>> = {
  statuts_masques: derive,
  departage: derive,
}

/**
 * Sets a setting, or unsets it, and changes what follows from it in the same transaction: a reader sees all of it or nothing.
 * Returns whether the value changed.
 */
export async function changeSetting<N extends SettingName>(
  store: Store,
  name: N,
  value: SettingValue<N> | undefined,
  onStage: (stage: ImportStage, done: number, of: number) => void = () => undefined,
): Promise<boolean> {
  const text = JSON.stringify(value ?? STORE_SETTINGS[name].default)
  const differs = async (db: Db) => JSON.stringify(await readSetting(db, name)) !== text
  if (!(await store.read(differs))) return false
  let isChanged = false
  const mergeData = async (db: Db) => {
    isChanged = await differs(db)
    if (!isChanged) return false
    await writeSetting(db, name, value)
    const stepOf = (stage: ImportStage) => (done: number, of: number) => onStage(stage, done, of)
    await EFFECTS[name]?.(db, stepOf('derive'), stepOf('order'))
    return true
  }
  await store.bulk(
    { withAccounts: false, rewritesAll: name in EFFECTS, mergeData, onStage },
    async () => undefined,
    async () => ({ change: isChanged ? { donnees: EVERYTHING } : {} }),
  )
  return isChanged
}
