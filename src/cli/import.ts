import { type Command, InvalidArgumentError } from 'commander'
import { convertCtfd } from '../formats/ctfd/convert.js'
import { convertScoreboard } from '../formats/ctfd-scoreboard.js'
import { convertCtftime } from '../formats/ctftime.js'
import { refuse } from '../formats/faults.js'
import { type Converted, toDump } from '../formats/records.js'
import { formatNames, refuseOther } from '../formats/sniff.js'
import { type Decimal, parseDecimal } from '../formats/values.js'
import { CommandError, oneOf } from '../forms.js'
import { TIE_BREAKS } from '../model/store-settings.js'
import { database, type OptionsOf, removeOperators } from '../options.js'
import { ImportError, type ImportReport, importDump } from '../portal/import.js'
import { hasChanged, type Tally } from '../portal/merge.js'
import { comparePlaces } from '../portal/places.js'
import type { Store } from '../store/store.js'
import { command, withStore } from './command.js'
import { checkPlainFile, type Dump, openDump, peek } from './dump.js'
import { printPlaces } from './import-places.js'
import { showImport } from './import-progress.js'
import { print, tell } from './output.js'
import { startProgress } from './progress.js'

const OPTIONS = {
  database,
  format: {
    value: '<name>',
    description: `what the file is: ${formatNames.join(', ')}`,
    variable: 'PALMARES_IMPORT_FORMAT',
    default: 'ndjson',
    parse: oneOf(formatNames),
  },
  replace: { description: 'remove records that the file does not contain' },
  withAccounts: { description: 'import accounts and keys too; only with ndjson' },
  removeOperators,
  departage: {
    value: '<rule>',
    description: 'set the setting departage too: equal scores share a place (aucun), or dates break ties (date)',
    parse: oneOf(TIE_BREAKS),
  },
  freeze: { description: 'leave out solves and awards from the freeze time on; only with ctfd' },
  scale: {
    value: '<number>',
    description: 'multiply scores by this to make them integers; only with ctfd-scoreboard and ctftime',
    parse: scaleNumber,
  },
}

type ImportCommandOptions = OptionsOf<typeof OPTIONS>

export function importCommand(): Command {
  return command(
    'import',
    'Import a file completely or not at all. Creates the store if needed, and migrates it.',
    OPTIONS,
  )
    .argument('<file>', 'a dump, NDJSON, or what --format says; - for standard input')
    .action(async (file: string, options: ImportCommandOptions) => {
      checkTogether(file, options)
      if (options.format === 'ndjson') await importLines(file, options)
      else await importForeign(file, options)
    })
}

async function importLines(file: string, options: ImportCommandOptions): Promise<void> {
  const { dump, head } = await peek(openDump(file))
  refuseOther(head, 'ndjson')
  const report = await withStore(options.database, { create: true }, (store) => importInto(store, dump, options))
  printReport(report, options)
}

/** The file is read completely before the store is opened, so that its faults are reported without a lock or a new store. */
async function importForeign(file: string, options: ImportCommandOptions): Promise<void> {
  const converted = await convert(file, options)
  if (options.replace && converted.nbAuteurs === 0) {
    throw refuse('the file names nobody, so --replace would empty the portal')
  }
  const dump = { stream: toDump(converted.records), totalBytes: undefined }
  const { places } = converted
  await withStore(options.database, { create: true }, async (store) => {
    printReport(await importInto(store, dump, options), options)
    for (const what of converted.leftOut) print(`  left out: ${what}`)
    if (places) printPlaces(await store.read((db) => comparePlaces(db, places)))
  }).catch((error: unknown) => {
    throw error instanceof ImportError ? new ImportError(error.faults, 'file') : error
  })
  for (const warning of converted.warnings) tell(`warning: ${warning}`)
}

async function convert(file: string, options: ImportCommandOptions): Promise<Converted> {
  if (options.format === 'ctftime') return convertCtftime(openDump(file).stream, options.scale)
  if (options.format === 'ctfd-scoreboard') return convertScoreboard(openDump(file).stream, options.scale)
  checkPlainFile(file)
  const progress = startProgress()
  const onProgress = (records: number, part: number) =>
    progress.update({ stage: 'reading the export', part, count: `${records} records` })
  return convertCtfd(file, { freeze: options.freeze === true, onProgress }).finally(progress.stop)
}

/** Refuses options that have no effect with a format, because they were given for a purpose. */
function checkTogether(file: string, { format, withAccounts, freeze, scale }: ImportCommandOptions): void {
  const fault = (option: string, formats: string) =>
    new CommandError(`${option} only works with --format ${formats}`, 2)
  if (withAccounts && format !== 'ndjson') throw fault('--with-accounts', 'ndjson')
  if (freeze && format !== 'ctfd') throw fault('--freeze', 'ctfd')
  if (scale && (format === 'ndjson' || format === 'ctfd')) throw fault('--scale', 'ctfd-scoreboard or ctftime')
  if (file === '-' && format === 'ctfd') throw new CommandError('--format ctfd takes a file, not standard input', 2)
}

function scaleNumber(text: string): Decimal {
  const found = parseDecimal(text)
  if (!found || !(Number(text) >= 1 && Number(text) <= 1_000_000)) {
    throw new InvalidArgumentError('It takes a number from 1 to 1000000, such as 100.')
  }
  return found
}

/** Imports a dump and shows its stages. */
async function importInto(
  store: Store,
  { stream, totalBytes }: Dump,
  { replace = false, withAccounts = false, removeOperators = false, departage }: ImportCommandOptions,
): Promise<ImportReport> {
  const progress = startProgress()
  let bytesRead = 0
  const counted = (async function* () {
    for await (const chunk of stream) {
      bytesRead += chunk.length
      yield chunk
    }
  })()
  const onProgress = showImport(progress, () => totalBytes && bytesRead / totalBytes)
  const options = { replace, withAccounts, removeOperators, refusesEmpty: true, departage, onProgress }
  return importDump(store, counted, options).finally(progress.stop)
}

function printReport(report: ImportReport, { departage }: ImportCommandOptions): void {
  const { lines, tallies, rebased, isDepartageChanged, unknownFields, removedAccounts } = report
  const changed = tallies.filter((tally) => hasChanged([tally]))
  const isChanged = changed.length > 0 || rebased > 0 || isDepartageChanged
  print(`${lines} lines read${isChanged ? '' : ', nothing changed'}`)
  printTallies(changed)
  if (changed.length === 0 && rebased > 0) print(`  auteur: ${rebased} scores changed`)
  if (isDepartageChanged) print(`  departage is now ${departage}`)
  for (const [name, count] of unknownFields) tell(`warning: unknown field ${name}; ignored in ${count} line(s)`)
  const named = removedAccounts.slice(0, MAX_NAMED_ACCOUNTS)
  for (const login of named) tell(`warning: the account ${login} is removed, with its sessions and keys`)
  const rest = removedAccounts.length - named.length
  if (rest > 0) tell(`warning: and ${rest} more account(s)`)
}

const MAX_NAMED_ACCOUNTS = 100

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
