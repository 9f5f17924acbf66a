import type { Command } from 'commander'
import { type ImportReport, importDump } from '../portal/import.js'
import { hasChanged, type Tally } from '../portal/merge.js'
import { database } from '../settings.js'
import { command, withStore } from './command.js'
import { type Dump, openDump } from './dump.js'
import { print, startProgress, tell } from './output.js'

interface ImportCommandOptions {
  database: string
  replace?: boolean
  withAccounts?: boolean
}

export function importCommand(): Command {
  const replace = { flags: '--replace', description: 'remove what the dump does not name' }
  const withAccounts = { flags: '--with-accounts', description: 'import accounts and keys too' }
  return command('import', 'Import a dump, whole or not at all; makes and migrates a missing store.', [
    database,
    replace,
    withAccounts,
  ])
    .argument('<file>', 'the dump, NDJSON; - for standard input')
    .action(async (file: string, { database: url, replace = false, withAccounts = false }: ImportCommandOptions) => {
      const dump = openDump(file)
      const report = await withStore(url, { create: true }, (store) =>
        withProgress(dump, (bytes, onProgress) => importDump(store, bytes, { replace, withAccounts, onProgress })),
      )
      printReport(report)
    })
}

const STEPS = { read: 'reading', merge: 'merging', rank: 'ranking' }

type OnProgress = (step: keyof typeof STEPS, lines: number) => void

/** Shows how much of the dump is read. */
async function withProgress<T>(
  { stream, totalBytes }: Dump,
  work: (bytes: AsyncIterable<Uint8Array>, onProgress: OnProgress) => Promise<T>,
): Promise<T> {
  let bytesRead = 0
  const counted = (async function* () {
    for await (const chunk of stream) {
      bytesRead += chunk.length
      yield chunk
    }
  })()
  const progress = startProgress('lines')
  try {
    return await work(counted, (step, lines) => {
      const isRead = step !== 'read'
      progress.update(STEPS[step], lines, isRead ? 1 : totalBytes && bytesRead / totalBytes)
    })
  } finally {
    progress.stop()
  }
}

function printReport({ lines, tallies, unknownFields }: ImportReport): void {
  const changed = tallies.filter((tally) => hasChanged([tally]))
  print(`${lines} lines read${changed.length === 0 ? ', nothing changed' : ''}`)
  printTallies(changed)
  for (const [name, count] of unknownFields)
    tell(`warning: ${name} is not a field of the dump; left out of ${count} line(s)`)
}

/** What changed of each kind of record. */
export function printTallies(tallies: readonly Tally[]): void {
  for (const { type, added, changed, removed, listed } of tallies) {
    const parts = [`${added} added`, `${changed} changed`, `${removed} removed`]
    if (listed > 0) parts.push(`${listed} ${LISTED[type] ?? 'entries'} added or removed`)
    print(`  ${type}: ${parts.join(', ')}`)
  }
}

/** What the lists of a record hold. */
const LISTED: Record<string, string> = { challenge: 'authorships', compte: 'keys' }
