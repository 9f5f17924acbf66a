import type { Command } from 'commander'
import { checkPortal, repairPortal } from '../portal/check.js'
import { database } from '../settings.js'
import { command, withStore } from './command.js'
import { CommandError, print } from './output.js'

export function checkCommand(): Command {
  const repair = {
    flags: '--repair',
    description: 'derive scores, counts, places and search anew from the records first',
  }
  return command('check', 'Check a store: its file, references, scores, places and search.', [database, repair]).action(
    async (options: { database: string; repair?: boolean }) => {
      await withStore(options.database, { create: false }, async (store) => {
        if (options.repair) {
          await repairPortal(store)
          print('scores, counts, places and search derived anew')
        }
        const { counts, findings } = await checkPortal(store)
        print(
          `schema and file: ${Object.entries(counts)
            .map(([name, count]) => `${count} ${name}`)
            .join(', ')}`,
        )
        for (const { what, faults } of findings)
          print(faults.length === 0 ? `ok     ${what}` : `FAULT  ${what}: ${faults.join('; ')}`)
        const advice = [...new Set(findings.filter(({ faults }) => faults.length > 0).map(({ remedy }) => remedy))]
        if (advice.length > 0) throw new CommandError(`the store has faults; ${advice.join('; ')}`)
      })
    },
  )
}
