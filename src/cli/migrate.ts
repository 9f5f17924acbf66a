import type { Command } from 'commander'
import { database, type Setting } from '../config.js'
import { deriveOrders, derivePoints, deriveScores, hiddenStatuts } from '../portal/derive.js'
import { migrateStore, pendingOf } from '../store/open.js'
import { lowerAscii } from '../text.js'
import { command, withStore } from './command.js'
import { print } from './output.js'

const settings: Setting[] = [
  database,
  { flags: '--dry-run', description: 'say what would run, and change nothing' },
  {
    flags: '--hidden-statuts <list>',
    description: 'the statuts that hold no place in the ranking, comma-separated; "" for none',
    parse: (text) => [...new Set(text.split(',').map((statut) => lowerAscii(statut.trim())))].filter(Boolean).sort(),
  },
]

export function migrateCommand(): Command {
  return command(
    'migrate',
    'Make a missing store, bring an older one to this schema, set what the ranking hides.',
    settings,
  ).action(async (options: { database: string; dryRun?: boolean; hiddenStatuts?: string[] }) => {
    const pending = options.dryRun ? pendingOf(options.database) : await migrateStore(options.database)
    for (const { version, nom } of pending)
      print(`${options.dryRun ? 'would run' : 'ran'} migration ${version} (${nom})`)
    if (pending.length === 0) print('the schema is up to date')
    if (options.hiddenStatuts !== undefined && !options.dryRun) await hide(options.database, options.hiddenStatuts)
  })
}

/** Sets what the ranking hides and ranks anew, in one transaction. */
async function hide(url: string, statuts: string[]): Promise<void> {
  await withStore(url, { create: false }, async (store) => {
    const { changed } = await store.bulk(
      async () => undefined,
      async (db) => {
        const before = await hiddenStatuts(db)
        const changed = JSON.stringify(before) !== JSON.stringify(statuts)
        if (changed) {
          await db.exec('update etat set statuts_masques = ?', JSON.stringify(statuts))
          await derivePoints(db)
          await deriveScores(db)
          await deriveOrders(db)
        }
        return { change: { donnees: changed }, changed }
      },
    )
    const list = statuts.length === 0 ? 'nothing' : statuts.join(', ')
    print(changed ? `the ranking now hides ${list}` : `the ranking hides ${list} already`)
  })
}
