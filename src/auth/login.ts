import type { Principal } from '../contract.js'
import { type FieldError, Problem } from '../errors.js'
import { DAY_SECONDS, nowSeconds } from '../instant.js'
import { addressKey } from '../limits/address.js'
import type { Limits } from '../limits/limits.js'
import { DEFAULT_BOUNDS, ParameterError } from '../parameters.js'
import type { Change, Db, Store } from '../store/store.js'
import { type CompteFrom, findCompteFrom, rememberAddress } from './adresses-queries.js'
import { findCle } from './cles-queries.js'
import { findCompte } from './comptes-queries.js'
import { loginParameters } from './contract.js'
import { deleteSome } from './deletion.js'
import type { Asker, QueueBounds } from './fair-queue.js'
import { SESSION_MAX_SECONDS } from './guard.js'
import { PasswordChecker } from './passwords.js'
import { endOldSessions, insertSession, purgeSessionsOfCle } from './sessions-queries.js'
import { type LoginLimits, LoginThrottle } from './throttle.js'
import { digest, makeSessionToken } from './tokens.js'

/**
 * Maximum number of live sessions that an account made by password, or by one of its keys. A new one ends the oldest above it.
 */
const MAX_LIVE_SESSIONS = 100

/** How many addresses of an account are remembered, the latest ones. */
const MAX_KNOWN_ADDRESSES = 20
const REMEMBER_ADDRESS_SECONDS = 90 * DAY_SECONDS

export interface NewSession {
  token: string
  idAuteur: number
  expiration: number
}

/** How long an ended session answers `credential_revoked` instead of `credential_invalid`. */
const REMEMBER_SESSION_SECONDS = 30 * DAY_SECONDS
/** How often old sessions are deleted, by a login that writes anyway; while there are more, each login deletes some. */
const PURGE_STEP_SECONDS = 60

/** Signs accounts in, and limits password guessing. */
export class Login {
  private readonly checker: PasswordChecker
  private readonly throttle: LoginThrottle
  private nextPurge = 0

  constructor(
    private readonly store: Store,
    options: LoginLimits & QueueBounds,
    limits: Limits,
  ) {
    this.checker = new PasswordChecker(options)
    this.throttle = new LoginThrottle(options, limits)
  }

  /** A new session. Throws `login_refused`, `login_throttled` or `overloaded`. */
  signIn(login: string, password: string, address: string): Promise<NewSession> {
    const from = addressKey(address)
    const adresse = digest(`${login}\0${from}`)
    return this.throttle.run(login, from, async () => {
      const compte = await this.store.read((db) => findCompteFrom(db, login, adresse))
      const isKnown = compte !== undefined && compte.vue !== null
      const check = () => this.check(compte, password, { address: from, isKnown })
      const found = await (isKnown ? check() : this.throttle.runFromUnknown(login, check))
      return this.open(found, adresse)
    })
  }

  private async check(compte: CompteFrom | undefined, password: string, asker: Asker): Promise<CompteFrom> {
    const isRight = await this.checker.matches(compte?.mot_de_passe, password, asker)
    if (!isRight || !compte || compte.desactive) throw new Problem('login_refused')
    return compte
  }

  /** The password that was checked must still be the account's when the session is written. */
  private open(compte: CompteFrom, adresse: string): Promise<NewSession> {
    return this.begin(async (db, now) => {
      const still = await findCompte(db, compte.login)
      if (still?.mot_de_passe !== compte.mot_de_passe || still.desactive) throw new Problem('login_refused')
      if (compte.vue === null || compte.vue < now - DAY_SECONDS) {
        await rememberAddress(db, { id_compte: still.id_compte, adresse, vue: now }, MAX_KNOWN_ADDRESSES)
      }
      return still
    })
  }

  /**
   * A new session that is bound to a key: it may do what the key may, and ends with it. Throws `credential_revoked` where
   * the key, or its account, has ended meanwhile.
   */
  signInByKey({ empreinte }: Principal): Promise<NewSession> {
    return this.begin(async (db, now) => {
      const cle = await db.get(findCle, { empreinte })
      if (!cle || cle.revocation !== null || cle.desactive || cle.expiration <= now) {
        throw new Problem('credential_revoked')
      }
      await purgeSessionsOfCle(db, cle.id_cle)
      return cle
    })
  }

  /** Writes a session for whom `check` finds, in the same transaction. */
  private begin(
    check: (
      db: Db,
      now: number,
    ) => Promise<{ id_compte: number; id_auteur: number; id_cle?: number; expiration?: number }>,
  ): Promise<NewSession> {
    const token = makeSessionToken()
    const now = nowSeconds()
    const change: Change = {}
    return this.store.write(change, async (db) => {
      const owner = await check(db, now)
      await this.purge(db, now)
      change.comptes = await endOldSessions(db, owner, MAX_LIVE_SESSIONS - 1, now)
      const { id_compte, id_auteur, id_cle = null, expiration = Number.POSITIVE_INFINITY } = owner
      await insertSession(db, { empreinte: digest(token), id_compte, id_cle, now })
      return { token, idAuteur: id_auteur, expiration: Math.min(expiration, now + SESSION_MAX_SECONDS) }
    })
  }

  /** Deletes some sessions and addresses that nobody needs any longer. */
  private async purge(db: Db, now: number): Promise<void> {
    if (now < this.nextPurge) return
    const ended = now - REMEMBER_SESSION_SECONDS
    const hasOld = await deleteSome(db, 'sessions', 'creation', ended - SESSION_MAX_SECONDS)
    const hasEnded = await deleteSome(db, 'sessions', 'revocation', ended)
    await deleteSome(db, 'adresses_connues', 'vue', now - REMEMBER_ADDRESS_SECONDS)
    this.nextPurge = hasOld || hasEnded ? now : now + PURGE_STEP_SECONDS
  }
}

/** The login and the password of a body or a query. Throws `invalid_parameter`. */
export function readLogin(given: Record<string, unknown>): { name: string; password: string } {
  const errors: FieldError[] = []
  const read = (parameter: 'login' | 'password') => {
    const value = given[parameter]
    try {
      if (typeof value !== 'string' || value === '') throw new ParameterError('takes a text that is not empty')
      return loginParameters[parameter].parse(value, DEFAULT_BOUNDS)
    } catch (error) {
      if (!(error instanceof ParameterError)) throw error
      errors.push({ parameter, message: error.message })
      return ''
    }
  }
  const found = { name: read('login'), password: read('password') }
  if (errors.length === 0) return found
  throw new Problem('invalid_parameter', { detail: 'Give login and password, both as text.', errors })
}
