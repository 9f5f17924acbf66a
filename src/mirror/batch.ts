import type { Kind } from '../model/kind.js'
import { kindOf } from '../model/kinds.js'
import { readKey, readRecord } from '../model/line.js'
import { FieldError } from '../model/readers.js'
import { ImportError, type ImportReport, importDump } from '../portal/import.js'
import type { Tally } from '../portal/merge.js'
import type { Store } from '../store/store.js'
import type { Clock } from './clock.js'
import { BadAnswer, MirrorError } from './errors.js'
import { type Resource, remember, throwIfTaken } from './state.js'

/** A batch is written when it reaches this number of answers, this age or this size. */
const BATCH_ANSWERS = 500
const BATCH_MILLISECONDS = 30_000
const BATCH_CHARACTERS = 32_000_000
/** The cost of a merge grows with the portal, so merging may use about 1/`MERGE_SHARE` of the time. */
const MERGE_SHARE = 10

export type Line = Record<string, unknown> & { type: string }

interface BatchOptions {
  store: Store
  clock: Clock
  maker: number
  onWarning: (message: string) => void
}

export type Batch = ReturnType<typeof makeBatch>

/**
 * Received records that are not yet in the store. Lines that are put without waiting in between are written in one transaction.
 */
export function makeBatch({ store, clock, maker, onWarning }: BatchOptions) {
  /** What the lines changed so far, by type. */
  const tallies = new Map<string, Tally>()
  let pending = makePending(clock.now())
  let lastMergeMilliseconds = 0
  let last: Promise<void> = Promise.resolve()

  const write = async ({ lines, answers, gone }: Pending) => {
    if (lines.size > 0) {
      await store.read((db) => throwIfTaken(db, maker))
      const begun = clock.now()
      const report = await merge(store, lines.values())
      for (const tally of report.tallies) add(tallies, tally)
      // An account may be added between the check and the removal of its author.
      for (const login of report.removedAccounts) onWarning(`the account ${login} is removed with its author`)
      lastMergeMilliseconds = clock.now() - begun
    }
    if (answers.size + gone.size === 0) return
    const now = Math.floor(clock.now() / 1_000)
    await remember(store, { answers: [...answers.values()], gone: [...gone], now, maker })
  }
  /** Writes everything: the lines all or none, then the answers. */
  const flush = () => {
    const taken = pending
    pending = makePending(clock.now())
    // One after the other: a line of a later batch may depend on one of an earlier batch.
    last = last.then(() => write(taken))
    return last
  }
  return {
    tallies,
    flush,
    /**
     * Takes lines of the dump that belong together, each about a record; a later line about the same record replaces it. Throws
     * `BadAnswer` for a bad field, and takes none of them then.
     */
    put(lines: readonly Line[], path: string): void {
      const all = lines.map((line) => ({ ...checked(line, path), text: JSON.stringify(line) }))
      for (const { kind, key, text } of all) {
        pending.characters += text.length
        pending.types.add(kind.type)
        pending.lines.set(`${kind.type} ${key}`, text)
      }
    },
    /** Whether lines of a type are waiting to be written. */
    holds: (type: string) => pending.types.has(type),
    /** Takes an answer that the lines before it came from. */
    answered(resource: Resource): void {
      pending.gone.delete(resource.chemin)
      pending.answers.set(resource.chemin, resource)
    },
    /** Takes an address that is no longer copied. */
    gone(chemin: string): void {
      pending.answers.delete(chemin)
      pending.gone.add(chemin)
    },
    /** Flushes if it is time. */
    async flushIfDue(): Promise<void> {
      const age = clock.now() - pending.since
      const isFull = pending.answers.size + pending.gone.size >= BATCH_ANSWERS || age >= BATCH_MILLISECONDS
      const isTime = age >= lastMergeMilliseconds * MERGE_SHARE
      if (pending.characters >= BATCH_CHARACTERS || (isFull && isTime)) await flush()
    },
  }
}

type Pending = ReturnType<typeof makePending>

function makePending(since: number) {
  return {
    since,
    characters: 0,
    types: new Set<string>(),
    lines: new Map<string, string>(),
    answers: new Map<string, Resource>(),
    gone: new Set<string>(),
  }
}

/** Reads a line as the import will, so that a fault is reported with the path that it came from. */
function checked(line: Line, path: string): { kind: Kind; key: string } {
  const kind = kindOf(line.type) as Kind
  try {
    if (line.supprime !== true) readRecord(kind, line)
    return { kind, key: readKey(kind, line).join(' ') }
  } catch (error) {
    if (error instanceof FieldError) throw new BadAnswer(`${path}: ${error.message}`)
    throw error
  }
}

async function merge(store: Store, lines: Iterable<string>): Promise<ImportReport> {
  try {
    return await importDump(store, bytesOf(lines), { replace: false, withAccounts: false })
  } catch (error) {
    if (!(error instanceof ImportError)) throw error
    throw new MirrorError(`the portal's responses are inconsistent: ${error.message.split('\n')[0]}`, undefined, {
      cause: error,
    })
  }
}

async function* bytesOf(lines: Iterable<string>): AsyncGenerator<Uint8Array> {
  for (const line of lines) yield Buffer.from(`${line}\n`)
}

function add(tallies: Map<string, Tally>, { type, added, changed, removed, listed }: Tally): void {
  const sum = tallies.get(type) ?? { type, added: 0, changed: 0, removed: 0, listed: 0 }
  sum.added += added
  sum.changed += changed
  sum.removed += removed
  sum.listed += listed
  tallies.set(type, sum)
}
