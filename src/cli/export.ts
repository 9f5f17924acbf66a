import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { exportLines } from '../portal/export.js'
import { database } from '../settings.js'
import { command, withStore } from './command.js'

export function exportCommand(): Command {
  const withAccounts = {
    flags: '--with-accounts',
    description: 'export accounts and key hashes too; keep such a dump secret',
  }
  return command('export', 'Write the portal to standard output as a dump.', [database, withAccounts]).action(
    async (options: { database: string; withAccounts?: boolean }) => {
      await withStore(options.database, { create: false }, (store) =>
        store.read(async (db) => {
          const lines = exportLines(db, { withAccounts: options.withAccounts === true })
          await pipeline(Readable.from(lines), process.stdout, { end: false })
        }),
      )
    },
  )
}
