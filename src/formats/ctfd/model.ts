/** What is taken of an export, once read. */
export interface Contest {
  /** Who plays: users, or teams. */
  account: 'user' | 'team'
  accounts: Map<number, Account>
  challenges: Map<number, Challenge>
  solves: Map<number, Solve>
  /** The sum of the awards of an account; it may be negative. */
  awards: Map<number, number>
}

/** Who is shown. Those who are not are kept by their id alone, as solves may name them. */
export interface Account {
  name: string
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
