import type { Command } from 'commander'
import { database, type OptionsOf } from '../options.js'
import { hidesAlready, setHiddenStatuts } from '../portal/statuts.js'
import { migrateStore, pendingOf } from '../store/open.js'
import { lowerAscii } from '../text.js'
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
    description: 'statuts without a place in the ranking, comma-separated; "" for none',
    parse: (text: string) =>
      [...new Set(text.split(',').map((statut) => lowerAscii(statut.trim())))].filter(Boolean).sort(),
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

async function hide({ database: url, dryRun = false }: MigrateOptions, statuts: string[], isOlder: boolean) {
  const list = statuts.length === 0 ? 'nothing' : statuts.join(', ')
  // A dry run has no store to look into where the schema is still to come.
  const changes =
    (dryRun && isOlder) ||
    (await withStore(url, { create: false }, (store) =>
      dryRun ? store.read(async (db) => !(await hidesAlready(db, statuts))) : setHiddenStatuts(store, statuts),
    ))
  if (!changes) print(`the ranking hides ${list} already`)
  else print(dryRun ? `would hide ${list}` : `the ranking now hides ${list}`)
}
