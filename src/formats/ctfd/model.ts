/** What is taken of an export, once read. */
export interface Contest {
  /** Who plays: users, or teams. */
  account: 'user' | 'team'
  accounts: Map<number, Account>
  challenges: Map<number, Challenge>
  solves: Map<number, Solve>
  awards: Map<number, Awards>
}

/** The awards of an account. */
export interface Awards {
  /** Their sum; it may be negative. */
  value: number
  /** The latest known date of one that is not worth 0, in seconds since 1970. */
  date: number | null
}

/** Who is shown. Those who are not are kept by their id alone, as solves may name them. */
export interface Account {
  name: string
  /** Its bracket. */
  groupe: string
  isShown: boolean
}

export interface Challenge {
  name: string
  category: string
  description: string
  /** What it is worth now; it may be negative. */
  value: number
  isShown: boolean
}

export interface Solve {
  account: number
  challenge: number
  /** Seconds since 1970, null where unknown; undefined as long as it is not looked up. */
  date: number | null | undefined
}
