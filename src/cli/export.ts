import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Argument, type Command } from 'commander'
import { oneOf } from '../forms.js'
import { database, type OptionsOf } from '../options.js'
import { exportText, formatFault } from '../portal/export/export.js'
import { FORMATS } from '../portal/export/formats.js'
import { RESSOURCES } from '../portal/export/tables.js'
import { command, withStore } from './command.js'

const OPTIONS = {
  database,
  format: {
    value: '<format>',
    description: 'ndjson, json or, for a resource, csv',
    variable: 'PALMARES_EXPORT_FORMAT',
    default: 'ndjson',
    parse: oneOf(FORMATS),
  },
  withAccounts: { description: 'export accounts and key hashes too, in a dump; keep it secret' },
  withGelees: { description: 'export frozen validations too, in a dump; keep it secret' },
}

export function exportCommand(): Command {
  return command('export', 'Write the portal to standard output as a dump, or a resource as a table.', OPTIONS)
    .addArgument(new Argument('[ressource]', 'all rows of this resource instead').choices(RESSOURCES))
    .action(async (ressource: string | undefined, options: OptionsOf<typeof OPTIONS>, self: Command) => {
      const fault = formatFault({ ...options, ressource })
      if (fault) self.error(`error: ${fault}`)
      const isDump = !ressource && options.format === 'ndjson'
      if (options.withAccounts && !isDump) self.error('error: --with-accounts only works for a whole dump in ndjson')
      if (options.withGelees && !isDump) self.error('error: --with-gelees only works for a whole dump in ndjson')
      await withStore(options.database, { create: false }, (store) =>
        store.read(async (db) => {
          const text = Readable.from(exportText(db, { ...options, ressource }))
          await pipeline(text, process.stdout, { end: false })
        }),
      )
    })
}
