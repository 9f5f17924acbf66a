import { Command } from 'commander'
import { CommandError } from '../forms.js'
import { SETTING_NAMES, type SettingName, STORE_SETTINGS } from '../model/store-settings.js'
import { database, type OptionsOf } from '../options.js'
import { changeGel, changeSetting, type GelChange } from '../portal/settings.js'
import { readSettings } from '../store/settings.js'
import { command, withStore } from './command.js'
import { showImport } from './import-progress.js'
import { print, printJson, printTable, tell } from './output.js'
import { startProgress } from './progress.js'

const shownSettings = { database, json: { description: 'print JSON' } }

type Options = OptionsOf<typeof shownSettings>

export function settingsCommand(): Command {
  return new Command('settings')
    .description('Read and change the settings of a store. Servers obey a change at once.')
    .addCommand(listCommand())
    .addCommand(getCommand())
    .addCommand(setCommand())
    .addCommand(unsetCommand())
}

function listCommand(): Command {
  return command('list', 'List every setting with its value.', shownSettings).action(
    async ({ database: url, json }: Options) => {
      const found = await withStore(url, { create: false }, (store) => store.read(readSettings))
      if (json) return printJson(Object.fromEntries(SETTING_NAMES.map((name) => [name, found[name].value])))
      printTable(
        ['setting', 'value', 'set', 'description'],
        SETTING_NAMES.map((name) => {
          const { value, isSet } = found[name]
          return [name, textOf(value), isSet ? 'yes' : 'default', STORE_SETTINGS[name].description]
        }),
      )
    },
  )
}

function getCommand(): Command {
  return command('get', 'Print one setting.', shownSettings)
    .argument('<name>', 'its name')
    .action(async (name: string, { database: url, json }: Options) => {
      const setting = settingName(name)
      const found = await withStore(url, { create: false }, (store) => store.read(readSettings))
      const { value } = found[setting]
      if (json) printJson(value)
      else print(textOf(value))
    })
}

function setCommand(): Command {
  return command('set', 'Change a setting.', { database })
    .argument('<name>', 'its name')
    .argument('<value>', 'its new value')
    .action(async (name: string, text: string, { database: url }: { database: string }) => {
      const setting = settingName(name)
      const value = STORE_SETTINGS[setting].parse(text)
      if (value === undefined)
        throw new CommandError(`${setting} takes ${STORE_SETTINGS[setting].form}, not ${JSON.stringify(text)}`)
      await change(url, setting, value)
    })
}

function unsetCommand(): Command {
  return command('unset', 'Return a setting to its default.', { database })
    .argument('<name>', 'its name')
    .action((name: string, { database: url }: { database: string }) => change(url, settingName(name), undefined))
}

async function change(url: string, name: SettingName, value: unknown): Promise<void> {
  if (name === 'gel') return changeFreeze(url, value as string | undefined)
  const progress = startProgress()
  const onStage = showImport(progress, () => undefined)
  const changed = await withStore(url, { create: false }, (store) =>
    changeSetting(store, name, value as never, onStage),
  ).finally(progress.stop)
  const now = textOf(value ?? STORE_SETTINGS[name].default)
  print(changed ? `${name} is now ${now}` : `${name} is ${now} already`)
}

function settingName(name: string): SettingName {
  const found = SETTING_NAMES.find((each) => each === name)
  if (!found)
    throw new CommandError(`there is no setting ${JSON.stringify(name)}; the settings are ${SETTING_NAMES.join(', ')}`)
  return found
}

async function changeFreeze(url: string, value: string | undefined): Promise<void> {
  // Printed before the commit, so that nothing is dropped unseen.
  const onRefused = (refused: GelChange['refused']) => {
    for (const { line, reason } of refused)
      tell(`${value === undefined ? 'dropped' : 'still frozen'}: ${JSON.stringify(line)}: ${reason}`)
  }
  const change = await withStore(url, { create: false }, (store) => changeGel(store, value, onRefused))
  const { isChanged, applied, known, refused } = change
  print(`gel is ${isChanged ? 'now ' : ''}${value ?? NONE}${isChanged ? '' : ' already'}`)
  if (!isChanged) return
  if (value !== undefined) {
    print(
      'From now on, validations dated later or without a date are stored but not shown. What is shown already stays.',
    )
  }
  if (value === undefined || applied + known + refused.length > 0) {
    print(`${applied} frozen validation(s) applied, ${known} known already, ${refused.length} refused`)
  }
}

/** What stands for a setting without a value. */
const NONE = 'none'

/** A value as `settings set` takes it. */
function textOf(value: unknown): string {
  if (value === null) return NONE
  if (!Array.isArray(value)) return String(value)
  return value.length === 0 ? '""' : value.join(',')
}
