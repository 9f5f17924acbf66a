import { type Command, InvalidArgumentError } from 'commander'
import { STORE_SETTINGS } from '../model/store-settings.js'
import { database, type OptionsOf } from '../options.js'
import { changeSetting } from '../portal/settings.js'
import { migrateStore, pendingOf } from '../store/open.js'
import { readSetting } from '../store/settings.js'
import { command, withStore } from './command.js'
import { print } from './output.js'

const OPTIONS = {
  database,
  dryRun: { description: 'say what would run, and change nothing' },
  withoutPgTrgm: {
    description: "do not use PostgreSQL's extension pg_trgm; searches then scan the table, with a time limit",
  },
  hiddenStatuts: {
    value: '<list>',
    description: 'the setting statuts_masques: statuts without a place, comma-separated; "" for none',
    parse: readStatuts,
  },
}

type MigrateOptions = OptionsOf<typeof OPTIONS>

export function migrateCommand(): Command {
  return command('migrate', 'Create or migrate the store, and set which statuts the ranking hides.', OPTIONS).action(
    async (options: MigrateOptions) => {
      const pending = options.dryRun
        ? await pendingOf(options.database)
        : await migrateStore(options.database, { withoutTrigrams: options.withoutPgTrgm === true })
      for (const { version, nom } of pending)
        print(`${options.dryRun ? 'would run' : 'ran'} migration ${version} (${nom})`)
      if (pending.length === 0) print('the schema is up to date')
      if (options.hiddenStatuts !== undefined) await hide(options, options.hiddenStatuts, pending.length > 0)
    },
  )
}

async function hide({ database: url, dryRun = false }: MigrateOptions, statuts: readonly string[], isOlder: boolean) {
  const list = statuts.length === 0 ? 'nothing' : statuts.join(', ')
  // A dry run has no store to look into where the schema is still to come.
  const changes =
    (dryRun && isOlder) ||
    (await withStore(url, { create: false }, (store) =>
      dryRun
        ? store.read(async (db) => !hides(await readSetting(db, 'statuts_masques'), statuts))
        : changeSetting(store, 'statuts_masques', statuts),
    ))
  if (!changes) print(`the ranking hides ${list} already`)
  else print(dryRun ? `would hide ${list}` : `the ranking now hides ${list}`)
}

function hides(now: readonly string[], statuts: readonly string[]): boolean {
  return JSON.stringify(now) === JSON.stringify(statuts)
}

function readStatuts(text: string): readonly string[] {
  const statuts = STORE_SETTINGS.statuts_masques.parse(text)
  if (!statuts) throw new InvalidArgumentError(`It takes ${STORE_SETTINGS.statuts_masques.form}.`)
  return statuts
}
