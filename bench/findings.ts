import { count } from './table.js'

/** A measured value and its target. */
export interface Finding {
  what: string
  /** Absent if it could not be measured; `beside` then says why. */
  value: number | undefined
  unit: Unit
  /** The target: a minimum or a maximum. Neither, if the value is only reported. */
  least?: number
  most?: number
  /** The absolute figures, and their limiting factor. */
  beside: string
}

/** A ratio, milliseconds, seconds or bytes. */
export type Unit = 'ratio' | 'ms' | 's' | 'bytes'

/** Reports a failed measurement in its row and continues the run. */
export async function attempt(what: string, work: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await work()
  } catch (error) {
    const beside = `not measured: ${error instanceof Error ? error.message.split('\n')[0] : error}`
    return [{ what, value: undefined, unit: 'ratio', beside }]
  }
}

/** The fastest peer's page of 50 (PostgreSQL and Redis beside it, 10,000 accounts, 2 cores): published, not measured here. */
const PEER_PAGES_PER_SECOND = 9_300

export function againstPeer(pagesPerSecond: number): Finding {
  return {
    what: "repeated ranking page against the fastest peer's, as published",
    value: pagesPerSecond / PEER_PAGES_PER_SECOND,
    unit: 'ratio',
    least: 5,
    beside: `${count(pagesPerSecond)}/s over ${count(PEER_PAGES_PER_SECOND)}/s (given, not measured)`,
  }
}
