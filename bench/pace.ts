/** How long and how often things are measured. */
export interface Pace {
  /** Rounds of each comparison, in which all sides take their turn. */
  rounds: number
  /** A turn of a pair, and what comes before the first one. */
  seconds: number
  warmSeconds: number
  /** Of a pair. */
  connections: number
  /** A turn of one kind of read at one size. */
  readSeconds: number
  /** Solves sent one by one in a turn, and batches of many. */
  solves: number
  batches: number
  /** Solves that are looked for in another process. */
  looks: number
  starts: number
  /** Mixed load before memory is read. */
  mixedSeconds: number
  /** Imports of each sort, where the portal is small enough for more than one. */
  imports: number
}

export const FULL: Pace = {
  ...{ rounds: 5, seconds: 2, warmSeconds: 2, connections: 32, readSeconds: 1, solves: 100, batches: 3 },
  ...{ looks: 300, starts: 5, mixedSeconds: 60, imports: 3 },
}

export const QUICK: Pace = {
  ...{ rounds: 2, seconds: 0.2, warmSeconds: 0.3, connections: 32, readSeconds: 0.15, solves: 10, batches: 1 },
  ...{ looks: 10, starts: 1, mixedSeconds: 1, imports: 1 },
}
