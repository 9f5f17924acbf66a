import type { Store } from '../store/store.js'
import type { Batch } from './batch.js'
import type { Clock } from './clock.js'
import type { Known } from './copy.js'
import type { Faults } from './faults.js'
import type { Source } from './source.js'
import type { Transport } from './transport.js'

export interface MirrorOptions {
  store: Store
  transport: Transport
  clock: Clock
  /** Ends the pass after the batch under way. */
  signal: AbortSignal
  /** The base address of the portal's own pages: addresses below it are kept as their paths. */
  portalUrl: string
  /** The authors who are followed; all of them where undefined. */
  authors?: readonly number[] | undefined
  connections: number
  /** Rows of one list; `MAX_LIST_ROWS` where undefined. */
  maxListRows?: number
  /** How many records of a stage are done, of how many; which part of the pass that is, 0 to 1; how long the rest takes. */
  onProgress(stage: string, done: number, expected?: number, part?: number, secondsLeft?: number): void
  /** What the operator should know, though the pass goes on. */
  onWarning(message: string): void
}

/** What a pass works with. */
export interface Pass extends MirrorOptions {
  source: Source
  passe: number
  batch: Batch
  known: Known
  /** What the lines of an answer follow from besides the answer and the copy. */
  reglage: string
  followed: ReadonlySet<number> | undefined
  /** Authors who came, or who are not as they were; whether a challenge is worth more or less than before. */
  touched: { added: Set<number>; changed: Set<number>; hasNewScore: boolean }
  /** Challenges that solves name and the copy lacks: each is asked for once, and this is its asking. */
  unlisted: Map<number, Promise<unknown>>
  faults: Faults
  /** Lists without a row, each with the status of its answer. */
  emptyLists: string[]
}
