import { Problem } from '../errors.js'
import { type Budget, Limiter } from '../limits.js'

export interface LoginLimits {
  /** Failed tries a minute for one login from one address. */
  failuresPerLogin: number
  /** Failed tries a minute for an address, whatever the login. */
  failuresPerAddress: number
}

const WINDOW_SECONDS = 60

/**
 * Slows down whoever guesses. A try takes a place before it is checked, so that tries side by side count too; one that
 * did not fail gives it back.
 */
export class LoginThrottle {
  private readonly perLogin: Limiter
  private readonly perAddress: Limiter
  /** The tries under way from an address. */
  private readonly underWay = new Map<string, Set<Promise<void>>>()

  constructor(limits: LoginLimits) {
    this.perLogin = new Limiter(limits.failuresPerLogin, WINDOW_SECONDS)
    this.perAddress = new Limiter(limits.failuresPerAddress, WINDOW_SECONDS)
  }

  /** Makes a try. Where no place is left it waits while others may give theirs back, then throws `login_throttled`. */
  async run<T>(login: string, address: string, check: () => Promise<T>): Promise<T> {
    const pair = `${address}\0${login}`
    for (let budget = this.take(address, pair); !budget.allowed; budget = this.take(address, pair)) {
      const others = this.underWay.get(address)
      if (!others) throw new Problem('login_throttled', { retryAfterSeconds: budget.resetSeconds })
      await Promise.race(others)
    }
    const result = this.settle(check(), address, pair)
    this.follow(address, result)
    return result
  }

  private take(address: string, pair: string): Budget {
    const ofAddress = this.perAddress.take(address)
    if (!ofAddress.allowed) return ofAddress
    const ofLogin = this.perLogin.take(pair)
    if (!ofLogin.allowed) this.perAddress.giveBack(address)
    return ofLogin
  }

  private async settle<T>(checked: Promise<T>, address: string, pair: string): Promise<T> {
    let isFailed = false
    try {
      return await checked
    } catch (error) {
      isFailed = error instanceof Problem && error.code === 'login_refused'
      throw error
    } finally {
      if (!isFailed) {
        this.perAddress.giveBack(address)
        this.perLogin.giveBack(pair)
      }
    }
  }

  private follow(address: string, result: Promise<unknown>): void {
    const tries = this.underWay.get(address) ?? new Set()
    const done: Promise<void> = result
      .catch(() => undefined)
      .then(() => {
        tries.delete(done)
        if (tries.size === 0) this.underWay.delete(address)
      })
    this.underWay.set(address, tries.add(done))
  }
}
