import { Problem } from '../errors.js'
import { nowSeconds } from '../instant.js'
import { addressKey, Limiter } from '../limits.js'
import type { Store } from '../store/store.js'
import { SESSION_MAX_SECONDS } from './guard.js'
import { PasswordChecker } from './passwords.js'
import { findCompte, insertSession, purgeSessions } from './queries.js'
import { digest, makeSessionToken } from './tokens.js'

export interface LoginLimits {
  /** Failed tries a minute for one login from one address. */
  failuresPerLogin: number
  /** Failed tries a minute for an address, whatever the login. */
  failuresPerAddress: number
}

export interface NewSession {
  token: string
  idAuteur: number
  expiration: number
}

/** Signs accounts in, and slows down whoever guesses. */
export class Login {
  private readonly checker = new PasswordChecker()
  private readonly perLogin: Limiter
  private readonly perAddress: Limiter

  constructor(
    private readonly store: Store,
    limits: LoginLimits,
  ) {
    this.perLogin = new Limiter(limits.failuresPerLogin, 60)
    this.perAddress = new Limiter(limits.failuresPerAddress, 60)
  }

  /** A new session. Throws `login_refused`, `login_throttled` or `overloaded`. */
  async signIn(login: string, password: string, address: string): Promise<NewSession> {
    const forgive = this.countAsFailed(login, addressKey(address))
    try {
      const compte = await this.store.read((db) => findCompte(db, login))
      if (!(await this.checker.matches(compte?.mot_de_passe, password)) || !compte || compte.desactive) {
        throw new Problem('login_refused')
      }
      forgive()
      return await this.open(compte)
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'login_refused') forgive()
      throw error
    }
  }

  /** The password that was checked must still be the account's when the session is written. */
  private open(compte: {
    login: string
    id_compte: number
    id_auteur: number
    mot_de_passe: string
  }): Promise<NewSession> {
    const token = makeSessionToken()
    const now = nowSeconds()
    return this.store.write({}, async (db) => {
      const still = await findCompte(db, compte.login)
      if (still?.mot_de_passe !== compte.mot_de_passe || still.desactive) throw new Problem('login_refused')
      await purgeSessions(db, now - 2 * SESSION_MAX_SECONDS)
      await insertSession(db, { empreinte: digest(token), id_compte: compte.id_compte, now })
      return { token, idAuteur: compte.id_auteur, expiration: now + SESSION_MAX_SECONDS }
    })
  }

  /** Counts a try before it is checked, so that tries side by side count too, and returns what takes it back. */
  private countAsFailed(login: string, address: string): () => void {
    const pair = `${address}\0${login}`
    let isCounted = true
    for (const [limiter, key] of [
      [this.perAddress, address],
      [this.perLogin, pair],
    ] as const) {
      const budget = limiter.take(key)
      if (!budget.allowed) throw new Problem('login_throttled', { retryAfterSeconds: budget.resetSeconds })
    }
    return () => {
      if (!isCounted) return
      isCounted = false
      this.perAddress.giveBack(address)
      this.perLogin.giveBack(pair)
    }
  }
}
