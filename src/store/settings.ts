import { FIRST_SECOND, formatInstant, parseInstant } from '../instant.js'
import { SETTING_NAMES, type SettingName, type SettingValue, STORE_SETTINGS } from '../model/store-settings.js'
import { statement } from './query.js'
import type { Db } from './store.js'

/** In SQL: whether dates break ties. It is constant within a statement, so an engine evaluates it once. */
export const TIES_BY_DATE = `exists (select 1 from reglages where nom = 'departage' and valeur = '"date"')`

export type Settings = { [N in SettingName]: { value: SettingValue<N>; isSet: boolean } }

/** Every setting: what the store says, else its default. */
export async function readSettings(db: Db): Promise<Settings> {
  const rows = await db.all(selectSettings, {})
  const stored = new Map(
    rows.flatMap((row) => (isSetting(row) ? [[row.nom, JSON.parse(row.valeur)]] : unreadable(row))),
  )
  return Object.fromEntries(
    SETTING_NAMES.map((name) => [
      name,
      { value: stored.has(name) ? stored.get(name) : STORE_SETTINGS[name].default, isSet: stored.has(name) },
    ]),
  ) as Settings
}

export async function readSetting<N extends SettingName>(db: Db, name: N): Promise<SettingValue<N>> {
  return (await readSettings(db))[name].value
}

/** The instant of the setting `gel`, in seconds; undefined while it is not set. */
export async function readGel(db: Db): Promise<number | undefined> {
  return gelOf(await readSettings(db))
}

export function gelOf({ gel }: Settings): number | undefined {
  return gel.value === null ? undefined : parseInstant(gel.value)
}

/** Stores a value; undefined returns the setting to its default, which has no row. */
export async function writeSetting<N extends SettingName>(
  db: Db,
  name: N,
  value: SettingValue<N> | undefined,
): Promise<void> {
  await db.run(deleteSetting, { nom: name })
  const [valeur, none] = [value, STORE_SETTINGS[name].default].map((each) => JSON.stringify(each))
  if (valeur !== undefined && valeur !== none) await db.run(insertSetting, { nom: name, valeur })
}

/** The names of rows that are no setting of this program, or whose value it does not take. They have no effect. */
export async function findWrongSettings(db: Db): Promise<string[]> {
  const rows = await db.all(selectSettings, {})
  return rows.filter((row) => !isSetting(row)).map(({ nom }) => nom)
}

/** Leaves a freeze that cannot be read: without it, what is frozen would be shown. */
export async function removeWrongSettings(db: Db): Promise<void> {
  for (const nom of await findWrongSettings(db)) if (nom !== 'gel') await db.run(deleteSetting, { nom })
}

/** A row that cannot be read has no effect, but for a freeze: it then freezes every new validation. */
function unreadable({ nom }: { nom: string }): [string, unknown][] {
  return nom === 'gel' ? [[nom, formatInstant(FIRST_SECOND)]] : []
}

function isSetting({ nom, valeur }: { nom: string; valeur: string }): boolean {
  const setting = SETTING_NAMES.find((name) => name === nom)
  return setting !== undefined && STORE_SETTINGS[setting].has(parsed(valeur))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const selectSettings = statement()((q) => q.selectFrom('reglages').select(['nom', 'valeur']).orderBy('nom'))

const deleteSetting = statement<{ nom: string }>()((q, p) => q.deleteFrom('reglages').where('nom', '=', p.nom))

const insertSetting = statement<{ nom: string; valeur: string }>()((q, p) =>
  q.insertInto('reglages').values({ nom: p.nom, valeur: p.valeur }),
)
