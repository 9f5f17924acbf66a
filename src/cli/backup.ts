import type { Command } from 'commander'
import { database } from '../options.js'
import { command, withStore } from './command.js'
import { print } from './output.js'

export function backupCommand(): Command {
  return command('backup', 'Copy a running store to a new file. It contains credential hashes: keep it secret.', {
    database,
  })
    .argument('<file>', 'the new file')
    .action(async (file: string, options: { database: string }) => {
      await withStore(options.database, { create: false }, (store) => store.backup(file))
      print(`copied to ${file}`)
    })
}
