import { Problem } from '../errors.js'
import type { Budget, Limiter, Limits } from '../limits/limits.js'
import { Semaphore } from '../semaphore.js'

export interface LoginLimits {
  /** Failed attempts per minute for one login from one address. */
  loginRateLimit: number
  /** Failed attempts per minute from one address, for all logins together. */
  loginAddressRateLimit: number
  /** Failed attempts per minute for one login, from all unknown addresses together. */
  loginTotalRateLimit: number
}

const WINDOW_SECONDS = 60
/** Concurrent attempts of an address, including those that wait for a slot. */
const MAX_TRIES_AT_ONCE = 100

/**
 * Limits password guessing. Each attempt reserves a slot before its check, so that parallel attempts count; one that is not
 * refused releases it.
 */
export class LoginThrottle {
  private readonly perLogin: Limiter
  private readonly perAddress: Limiter
  private readonly fromUnknown: Limiter
  private readonly byAddress = new Map<string, Tries>()

  constructor(options: LoginLimits, limits: Limits) {
    this.perLogin = limits.limiter('echecs_login', options.loginRateLimit, WINDOW_SECONDS)
    this.perAddress = limits.limiter('echecs_adresse', options.loginAddressRateLimit, WINDOW_SECONDS)
    this.fromUnknown = limits.limiter('echecs_inconnues', options.loginTotalRateLimit, WINDOW_SECONDS)
  }

  /**
   * Makes an attempt. If no slot is free it waits while others may release theirs, then throws `login_throttled`. Throws
   * `overloaded` if the address has too many concurrent attempts.
   */
  async run<T>(login: string, address: string, check: () => Promise<T>): Promise<T> {
    const pair = `${address}\0${login}`
    const tries = this.byAddress.get(address) ?? { count: 0, underWay: new Set(), turn: new Semaphore({ permits: 1 }) }
    if (tries.count >= MAX_TRIES_AT_ONCE) throw new Problem('overloaded')
    this.byAddress.set(address, tries)
    tries.count++
    try {
      for (;;) {
        const { result, others, budget } = await tries.turn.run(() => this.begin(tries, address, pair, check))
        if (result) return await result
        if (others.length === 0) throw new Problem('login_throttled', { retryAfterSeconds: budget.resetSeconds })
        await Promise.race(others)
      }
    } finally {
      if (--tries.count === 0) this.byAddress.delete(address)
    }
  }

  /**
   * Makes an attempt from an address where the login is not known, inside one that `run` makes. All such addresses share the
   * slots of a login, so they cannot use up those of its known addresses. Throws `login_throttled` if none is free.
   */
  async runFromUnknown<T>(login: string, check: () => Promise<T>): Promise<T> {
    const budget = await this.fromUnknown.take(login)
    if (!budget.allowed) throw new Problem('login_throttled', { retryAfterSeconds: budget.resetSeconds })
    return settle(check(), () => this.fromUnknown.giveBack(login))
  }

  /**
   * Starts the check if a slot is free. `others` were in flight before the slot was requested, so one of them may have released
   * its slot meanwhile.
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

/** Releases the slots of an attempt when it has ended, unless the login was refused. */
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

/** The attempts of an address on this node. */
interface Tries {
  count: number
  /** Those that have a slot and may release it. */
  underWay: Set<Promise<void>>
  /**
   * Reserves slots one at a time. Otherwise an attempt could be refused while another has reserved a slot but is not in
   * `underWay` yet, and would not wait for it.
   */
  turn: Semaphore
}
