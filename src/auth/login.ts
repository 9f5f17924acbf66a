import { Problem } from '../errors.js'
import { nowSeconds } from '../instant.js'
import { addressKey } from '../limits/address.js'
import type { Limits } from '../limits/limits.js'
import type { Change, Store } from '../store/store.js'
import { SESSION_MAX_SECONDS } from './guard.js'
import { PasswordChecker } from './passwords.js'
import { endOldSessions, findCompte, insertSession, purgeSessions } from './queries.js'
import { type LoginLimits, LoginThrottle } from './throttle.js'
import { digest, makeSessionToken } from './tokens.js'

/** Sessions of an account at once; a new one ends the oldest beyond. */
const MAX_LIVE_SESSIONS = 100

export interface NewSession {
  token: string
  idAuteur: number
  expiration: number
}

/** Signs accounts in, and slows down whoever guesses. */
export class Login {
  private readonly checker = new PasswordChecker()
  private readonly throttle: LoginThrottle

  constructor(
    private readonly store: Store,
    settings: LoginLimits,
    limits: Limits,
  ) {
    this.throttle = new LoginThrottle(settings, limits)
  }

  /** A new session. Throws `login_refused`, `login_throttled` or `overloaded`. */
  signIn(login: string, password: string, address: string): Promise<NewSession> {
    return this.throttle.run(login, addressKey(address), async () => {
      const compte = await this.store.read((db) => findCompte(db, login))
      if (!(await this.checker.matches(compte?.mot_de_passe, password)) || !compte || compte.desactive) {
        throw new Problem('login_refused')
      }
      return this.open(compte)
    })
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
    const change: Change = {}
    return this.store.write(change, async (db) => {
      const still = await findCompte(db, compte.login)
      if (still?.mot_de_passe !== compte.mot_de_passe || still.desactive) throw new Problem('login_refused')
      await purgeSessions(db, now - 2 * SESSION_MAX_SECONDS)
      change.comptes = (await endOldSessions(db, compte.id_compte, MAX_LIVE_SESSIONS - 1, now)) > 0
      await insertSession(db, { empreinte: digest(token), id_compte: compte.id_compte, now })
      return { token, idAuteur: compte.id_auteur, expiration: now + SESSION_MAX_SECONDS }
    })
  }
}
