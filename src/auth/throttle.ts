import { Problem } from '../errors.js'
import type { Budget, Limiter, Limits } from '../limits/limits.js'

export interface LoginLimits {
  /** Failed tries a minute for one login from one address. */
  failuresPerLogin: number
  /** Failed tries a minute for an address, whatever the login. */
  failuresPerAddress: number
  /** Failed tries a minute for one login from all addresses where it is not known. */
  failuresFromUnknown: number
}

const WINDOW_SECONDS = 60
/** Tries of an address at once, with those that wait for others to give their place back. */
const MAX_TRIES_AT_ONCE = 100

/**
 * Slows down whoever guesses. A try takes a place before it is checked, so that tries side by side count too; one that
 * did not fail gives it back.
 */
export class LoginThrottle {
  private readonly perLogin: Limiter
  private readonly perAddress: Limiter
  private readonly fromUnknown: Limiter
  private readonly byAddress = new Map<string, Tries>()

  constructor(settings: LoginLimits, limits: Limits) {
    this.perLogin = limits.limiter('echecs_login', settings.failuresPerLogin, WINDOW_SECONDS)
    this.perAddress = limits.limiter('echecs_adresse', settings.failuresPerAddress, WINDOW_SECONDS)
    this.fromUnknown = limits.limiter('echecs_inconnues', settings.failuresFromUnknown, WINDOW_SECONDS)
  }

  /**
   * Makes a try. Where no place is left it waits while others may give theirs back, then throws `login_throttled`. Throws
   * `overloaded` where too many of the address do.
   */
  async run<T>(login: string, address: string, check: () => Promise<T>): Promise<T> {
    const pair = `${address}\0${login}`
    const tries = this.byAddress.get(address) ?? { count: 0, underWay: new Set(), turn: Promise.resolve() }
    if (tries.count >= MAX_TRIES_AT_ONCE) throw new Problem('overloaded')
    this.byAddress.set(address, tries)
    tries.count++
    try {
      for (;;) {
        const { result, others, budget } = await inTurn(tries, () => this.begin(tries, address, pair, check))
        if (result) return await result
        if (others.length === 0) throw new Problem('login_throttled', { retryAfterSeconds: budget.resetSeconds })
        await Promise.race(others)
      }
    } finally {
      if (--tries.count === 0) this.byAddress.delete(address)
    }
  }

  /**
   * Makes a try of a login from an address where it is not known, inside one that `run` makes. All such addresses share the
   * places of a login, so its own known addresses never find them taken. Throws `login_throttled` where none is left.
   */
  async runFromUnknown<T>(login: string, check: () => Promise<T>): Promise<T> {
    const budget = await this.fromUnknown.take(login)
    if (!budget.allowed) throw new Problem('login_throttled', { retryAfterSeconds: budget.resetSeconds })
    return settle(check(), () => this.fromUnknown.giveBack(login))
  }

  /**
   * Begins the check where a place is left. `others` were under way before it was asked for: one of them may have given
   * a place back meanwhile.
   */
  private async begin<T>(
    { underWay }: Tries,
    address: string,
    pair: string,
    check: () => Promise<T>,
  ): Promise<{ result?: Promise<T>; others: Promise<void>[]; budget: Budget }> {
    const others = [...underWay]
    const budget = await this.take(address, pair)
    if (!budget.allowed) return { others, budget }
    const result = settle(check(), () => {
      this.perAddress.giveBack(address)
      this.perLogin.giveBack(pair)
    })
    const done: Promise<void> = result.then(
      () => void underWay.delete(done),
      () => void underWay.delete(done),
    )
    underWay.add(done)
    return { result, others, budget }
  }

  private async take(address: string, pair: string): Promise<Budget> {
    const ofAddress = await this.perAddress.take(address)
    if (!ofAddress.allowed) return ofAddress
    const ofLogin = await this.perLogin.take(pair)
    if (!ofLogin.allowed) this.perAddress.giveBack(address)
    return ofLogin
  }
}

/** Gives the places of a try back when it has ended, unless it failed. */
async function settle<T>(checked: Promise<T>, giveBack: () => void): Promise<T> {
  let isFailed = false
  try {
    return await checked
  } catch (error) {
    isFailed = error instanceof Problem && error.code === 'login_refused'
    throw error
  } finally {
    if (!isFailed) giveBack()
  }
}

/** The tries that an address makes on this node. */
interface Tries {
  count: number
  /** Those that hold a place and may give it back. */
  underWay: Set<Promise<void>>
  /** Ends when the one that takes a place now has, or has not, got one. */
  turn: Promise<unknown>
}

/**
 * Places are taken one after the other: a try that is refused while another one is between taking and checking would
 * find nobody to wait for.
 */
function inTurn<T>(tries: Tries, begin: () => Promise<T>): Promise<T> {
  const begun = tries.turn.then(begin)
  tries.turn = begun.catch(() => undefined)
  return begun
}
