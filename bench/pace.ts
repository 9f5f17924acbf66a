/** How long and how often things are measured. */
export interface Pace {
  /** Rounds of each comparison; all sides run once per round. */
  rounds: number
  /** Duration of a turn of a pair, and of the warm-up before the first one. */
  seconds: number
  warmSeconds: number
  /** Of a pair. */
  connections: number
  /** Duration of a turn of one kind of read at one size. */
  readSeconds: number
  /** Single solves per turn, and batches of solves. */
  solves: number
  batches: number
  /** Solves whose visibility in another process is measured. */
  looks: number
  starts: number
  /** Mixed load before memory is read. */
  mixedSeconds: number
  /** Imports of each kind, if the portal is small enough for more than one. */
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
