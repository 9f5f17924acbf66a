import type { JournalEntry } from '../../store/changes.js'
import { gelOf, readSettings, type Settings } from '../../store/settings.js'
import type { Change, Db, Store } from '../../store/store.js'
import { applyStep, makeLots, type Refusal, type StepOutcome } from './apply.js'
import { halvesOf, type NumberedLine, type Step } from './steps.js'
import { makeTouched, PointsError, settle } from './touched.js'

/** Applies a step; returns undefined if it must be split first. */
type OutcomeOf = typeof applyStep

/**
 * Runs work on a batch: live changes that are applied in one transaction. The work runs twice if a score may overflow midway,
 * the second time with savepoints. Throws `StoreError`; nothing was applied then.
 */
export async function inBatch<T>(store: Store, work: (batch: Batch, db: Db) => Promise<T>): Promise<T> {
  const run = (outcomeOf: OutcomeOf) => {
    const change: Change = {}
    const apply = async (db: Db) => {
      const [settings] = await Promise.all([readSettings(db), makeLots(db), makeTouched(db)])
      const batch = new Batch(db, settings, outcomeOf)
      const value = await work(batch, db)
      change.donnees = await batch.close()
      return value
    }
    return store.write(change, apply, 'donnees')
  }
  try {
    return await run(applyStep)
  } catch (error) {
    if (error instanceof PointsError) return run(applyCarefully)
    throw error
  }
}

export class Batch {
  /** The instant after which validations are frozen, if any. */
  gel: number | undefined
  private readonly entries: JournalEntry[] = []
  private isTouched = false

  constructor(
    private readonly db: Db,
    readonly settings: Settings,
    private readonly outcomeOf: OutcomeOf,
  ) {
    this.gel = gelOf(settings)
  }

  /** Adds a line to the journal. */
  note(...entries: readonly JournalEntry[]): void {
    this.entries.push(...entries)
  }

  /** Applies steps in their order, some of them in parts, and yields each part. `refuse` may give a reason not to try one. */
  async *apply(
    steps: readonly Step[],
    refuse: () => Refusal | undefined = () => undefined,
  ): AsyncGenerator<{ step: Step; outcome: StepOutcome }> {
    const waiting = [...steps].reverse()
    for (let step = waiting.pop(); step; step = waiting.pop()) {
      const refusal = refuse()
      const outcome = refusal ? allRefused(step, refusal) : await this.outcomeOf(this.db, step, this.gel)
      if (!outcome) {
        waiting.push(...halvesOf(step).reverse())
        continue
      }
      const applied = step.lines.filter(({ number }) => !outcome.has(number))
      if (applied.length > 0) this.isTouched = true
      for (const line of applied) this.entries.push(entryOf(line))
      yield { step, outcome }
    }
  }

  /** Brings scores and rankings up to date. Returns all lines of the journal. */
  async close(): Promise<readonly JournalEntry[]> {
    if (this.isTouched) {
      const rangs = await settle(this.db, this.settings.statuts_masques.value)
      if (Object.keys(rangs).length > 0) this.entries.push({ type: 'classement', rangs })
    }
    return this.entries
  }
}

/** Rolls back a step that gives an author too many points. It is split until a single line is left, which is refused. */
async function applyCarefully(db: Db, step: Step, gel: number | undefined): Promise<StepOutcome | undefined> {
  await db.exec('savepoint etape')
  const outcome = await applyStep(db, step, gel).catch(async (error) => {
    // After any other fault there may be no transaction left to continue.
    if (!(error instanceof PointsError)) throw error
    await db.exec('rollback to savepoint etape')
    return step.lines.length > 1 ? undefined : allRefused(step, { raison: error.message })
  })
  await db.exec('release savepoint etape')
  return outcome
}

function allRefused({ lines }: Step, refusal: Refusal): StepOutcome {
  return new Map(lines.map(({ number }) => [number, refusal]))
}

function entryOf({ kind, isRemoval, row }: NumberedLine): JournalEntry {
  const ids = Object.fromEntries(kind.key.map((name, i) => [name, row[i] as number]))
  return { type: kind.type as JournalEntry['type'], supprime: isRemoval ? 1 : 0, ...ids }
}
