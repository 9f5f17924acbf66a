import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { CommandError } from '../forms.js'
import { database, type OptionsOf } from '../options.js'
import { type Line, readLines } from '../portal/lines.js'
import { ingest, type LineResult, tally } from '../portal/live/ingest.js'
import { type Store, StoreError } from '../store/store.js'
import { command, withStore } from './command.js'
import { openDump } from './dump.js'
import { tell } from './output.js'

const OPTIONS = { database, refusedOnly: { description: 'print results of refused lines only' } }

/** A batch is one transaction. Lines that arrive slowly are batches of one. */
const BATCH_LINES = 1_000
/** Only a lock of another writer is retried. Other faults may come after the commit, and not every line may be sent twice. */
const RETRY_MILLISECONDS = 1_000
const PATIENCE_MILLISECONDS = 60_000

export function ingestCommand(): Command {
  const purpose = 'Apply validations and other lines as they come, to a portal that is being served.'
  return command('ingest', purpose, OPTIONS)
    .argument('<file>', 'lines of the dump, NDJSON; - for standard input, which may stay open')
    .addHelpText(
      'after',
      `
A line replaces its record whole; with "partiel":true it changes the fields that it names.
Each line is answered on standard output, in order: {"ligne":1,"resultat":"appliquee"}, "connue" if the portal has
it already, "gelee" if the setting gel hides it, or "refusee" with the reason. The exit status is 1 if a line was refused. Validations may be sent again.`,
    )
    .action(async (file: string, { database: url, refusedOnly = false }: OptionsOf<typeof OPTIONS>) => {
      const { stream } = openDump(file)
      const unread = noteUnread()
      const total = tally([])
      await withStore(url, { create: false }, async (store) => {
        for await (const lines of readLines(stream)) {
          for await (const results of applyInBatches(store, lines)) {
            const counts = tally(results)
            for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += counts[name]
            await answer(refusedOnly ? results.filter(({ resultat }) => resultat === 'refusee') : results)
            if (unread.error) throw nobodyReads(results, unread.error)
          }
        }
      })
      const frozen = total.gelees > 0 ? `, ${total.gelees} frozen` : ''
      tell(`${total.appliquees} applied, ${total.connues} known${frozen}, ${total.refusees} refused`)
      if (total.refusees > 0) throw new CommandError(`${total.refusees} line(s) were refused`)
    })
}

/** Applies lines in batches; lines for which a batch had no time are in the next. Results come in the order of the lines. */
export async function* applyInBatches(store: Store, lines: Line[]): AsyncGenerator<LineResult[]> {
  for (let from = 0; from < lines.length; from += BATCH_LINES) {
    const results: LineResult[] = []
    for (let batch = lines.slice(from, from + BATCH_LINES); batch.length > 0; ) {
      const all = await applyPatiently(store, batch)
      const left = new Set(all.filter(({ reessayer }) => reessayer).map(({ ligne }) => ligne))
      results.push(...all.filter(({ reessayer }) => !reessayer))
      batch = batch.filter(({ number }) => left.has(number))
    }
    yield results.sort((a, b) => a.ligne - b.ligne)
  }
}

async function applyPatiently(store: Store, lines: Line[]): Promise<LineResult[]> {
  const deadline = Date.now() + PATIENCE_MILLISECONDS
  for (let isWarned = false; ; isWarned = true) {
    try {
      return await ingest(store, lines)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      const from = `line ${lines[0]?.number}`
      if (error.fault !== 'busy' || Date.now() > deadline) {
        throw new CommandError(`${error.message}; the result of ${from} and later lines is unknown`)
      }
      if (!isWarned) tell(`warning: ${error.message}; retrying from ${from}`)
      await sleep(RETRY_MILLISECONDS)
    }
  }
}

/** Ingesting must not stop silently and with success when the reader of its output is gone, as a listing does. */
function noteUnread(): { error?: NodeJS.ErrnoException } {
  const unread: { error?: NodeJS.ErrnoException } = {}
  process.stdout.removeAllListeners('error').on('error', (error) => {
    unread.error = error
  })
  return unread
}

function nobodyReads(results: readonly LineResult[], { code }: NodeJS.ErrnoException): CommandError {
  return new CommandError(`standard output was closed (${code}); lines after ${results.at(-1)?.ligne} were not applied`)
}

async function answer(results: readonly LineResult[]): Promise<void> {
  const text = results.map((result) => `${JSON.stringify(result)}\n`).join('')
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain').catch(() => undefined)
}
