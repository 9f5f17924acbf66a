import type { Command } from 'commander'
import { CommandError } from '../forms.js'
import { database, type OptionsOf } from '../options.js'
import { type CheckReport, checkPortal, repairPortal } from '../portal/check.js'
import type { Store } from '../store/store.js'
import { command, withStore } from './command.js'
import { print } from './output.js'
import { type Progress, startProgress } from './progress.js'

const OPTIONS = {
  database,
  repair: { description: 'first rebuild scores, counts, places, groups and search from the records' },
}

export function checkCommand(): Command {
  return command('check', 'Check a store: its file, references, scores, places and search.', OPTIONS).action(
    async (options: OptionsOf<typeof OPTIONS>) => {
      await withStore(options.database, { create: false }, async (store) => {
        const progress = startProgress()
        const { counts, findings } = await work(store, options.repair === true, progress).finally(progress.stop)
        if (options.repair) print('rebuilt scores, counts, places, groups and search')
        print(
          `Store: ${Object.entries(counts)
            .map(([label, count]) => `${count} ${count === 1 ? label : pluralOf(label)}`)
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

/** A repair is as long as a check, by and large. */
async function work(store: Store, isRepaired: boolean, progress: Progress): Promise<CheckReport> {
  const from = isRepaired ? 0.5 : 0
  if (isRepaired) {
    await repairPortal(store, (stage, done, of) => progress.update({ stage, part: (from * done) / of }))
  }
  return checkPortal(store, (what, done, of) =>
    progress.update({
      stage: `checking ${what}`,
      part: from + ((1 - from) * done) / of,
      count: `${done + 1} of ${of}`,
    }),
  )
}

function pluralOf(label: string): string {
  return /[^aeiou]y$/.test(label) ? `${label.slice(0, -1)}ies` : `${label}s`
}
