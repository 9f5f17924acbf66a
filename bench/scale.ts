import { headersWith } from './client.js'
import type { Pace } from './pace.js'
import type { Served } from './portal.js'
import { type Load, runJob } from './processes.js'
import type { ReadKind } from './reads.js'
import { ratiosOf, type Spread, spreadOf } from './statistics.js'

/** One kind of read at one size. */
export interface ReadRow {
  kind: ReadKind
  authors: number
  p50Milliseconds: number
  p99Milliseconds: number
  /** This size divided by the smallest, per round; absent for the smallest. */
  p50Ratio?: Spread
  p99Ratio?: Spread
  /** Why it could not be measured. */
  fault?: string
}

const SEED_STEP = 10_000_000

/** Measures a kind, alternating between sizes (A B A B …), so that background load affects all of them equally. */
export async function measureReads(
  served: readonly Served[],
  load: Load,
  kind: ReadKind,
  { rounds, readSeconds }: Pace,
): Promise<ReadRow[]> {
  const times = served.map(() => ({ p50: [] as number[], p99: [] as number[] }))
  try {
    for (let round = 0; round < rounds; round++) {
      for (const [i, { port, portal }] of served.entries()) {
        const path = kind.path(portal.authors)
        const job = { connections: kind.connections, seconds: readSeconds, status: 200, seed: (round + 1) * SEED_STEP }
        const warmSeconds = round === 0 ? readSeconds : readSeconds / 5
        const result = await runJob(load, { ...job, port, path, warmSeconds, headers: headersWith(portal.key) })
        if (Number.isNaN(result.p50Milliseconds)) throw new Error(`no response within ${readSeconds} s`)
        times[i]?.p50.push(result.p50Milliseconds)
        times[i]?.p99.push(result.p99Milliseconds)
      }
    }
  } catch (error) {
    const none = { p50Milliseconds: Number.NaN, p99Milliseconds: Number.NaN, fault: (error as Error).message }
    return served.map(({ portal }) => ({ kind, authors: portal.authors, ...none }))
  }
  const first = times[0]!
  return times.map(({ p50, p99 }, i) => ({
    kind,
    authors: served[i]!.portal.authors,
    p50Milliseconds: spreadOf(p50).median,
    p99Milliseconds: spreadOf(p99).median,
    ...(i > 0 && { p50Ratio: ratiosOf(p50, first.p50), p99Ratio: ratiosOf(p99, first.p99) }),
  }))
}
