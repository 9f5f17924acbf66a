import { Problem } from '../errors.js'
import { DAY_SECONDS, nowSeconds } from '../instant.js'
import { SCOPES, type Scope } from '../model/scopes.js'
import type { Store } from '../store/store.js'
import { countCodePoints } from '../text.js'
import { type CleRow, countLiveCles, insertCle } from './cles-queries.js'
import { findLiveCompte } from './comptes-queries.js'
import { MAX_KEY_NAME_CODE_POINTS, MAX_LIVE_KEYS } from './contract.js'
import { deleteSome } from './deletion.js'
import { digest, makeApiKey, shownPrefix } from './tokens.js'

const YEAR_SECONDS = 365 * DAY_SECONDS
/** How long a revoked or expired key is distinguished from an unknown one. */
const REMEMBER_KEY_SECONDS = 90 * DAY_SECONDS

export interface KeyRequest {
  nom: string
  /** Default: in one year. */
  expiration?: number | undefined
  portee: readonly Scope[]
}

/**
 * Creates a key for an account. The account, and the session if one is given, are checked in the transaction that writes the
 * key. Throws `too_many_keys` for the 21st valid key, `scope_required` for a scope that the account may not grant,
 * `credential_revoked` if the account or the session has ended.
 */
export async function createKey(
  store: Store,
  idCompte: number,
  request: KeyRequest,
  session?: string,
): Promise<{ key: string; row: CleRow }> {
  const portee = SCOPES.filter((scope) => scope === 'lecture' || request.portee.includes(scope))
  const key = makeApiKey()
  const now = nowSeconds()
  const row = await store.write({}, async (db) => {
    const compte = await findLiveCompte(db, idCompte, session)
    if (!compte) throw new Problem('credential_revoked')
    if (portee.length > 1 && compte.operateur === 0) {
      throw new Problem('scope_required', { detail: 'Only the account of an operator may have keys with this scope.' })
    }
    if ((await countLiveCles(db, idCompte, now)) >= MAX_LIVE_KEYS) {
      const errors = [{ parameter: 'body', message: `would be key ${MAX_LIVE_KEYS + 1} of this account` }]
      throw new Problem('too_many_keys', { errors })
    }
    for (const end of ['expiration', 'revocation'] as const) {
      await deleteSome(db, 'cles_api', end, now - REMEMBER_KEY_SECONDS)
    }
    return insertCle(db, {
      id_compte: idCompte,
      nom: request.nom,
      prefixe: shownPrefix(key),
      empreinte: digest(key),
      portee: portee.join(' '),
      creation: now,
      expiration: request.expiration ?? now + YEAR_SECONDS,
      derniere_utilisation: null,
      revocation: null,
    })
  })
  return { key, row }
}

export function isKeyName(text: string): boolean {
  const isPlain = text.isWellFormed() && !/\p{Cc}/u.test(text)
  return isPlain && text.trim() !== '' && countCodePoints(text) <= MAX_KEY_NAME_CODE_POINTS
}

export function isScope(value: unknown): value is Scope {
  return SCOPES.includes(value as Scope)
}
