import { type Principal, SCOPES, type Scope } from '../contract.js'
import { Problem } from '../errors.js'
import { nowSeconds } from '../instant.js'
import type { Store } from '../store/store.js'
import { MAX_LIVE_KEYS } from './contract.js'
import { type CleRow, insertCle, listCles, purgeCles } from './queries.js'
import { digest, makeApiKey, shownPrefix } from './tokens.js'

const YEAR_SECONDS = 365 * 24 * 3600
/** How long a key that ended is still told apart from one that never was. */
const REMEMBER_ENDED_SECONDS = 90 * 24 * 3600

export interface KeyRequest {
  nom: string
  /** Absent: a year from now. */
  expiration?: number | undefined
  portee: readonly Scope[]
}

/** Makes a key for an account. Throws `too_many_keys` for the 21st live one, `scope_required` for a scope it may not have. */
export async function createKey(
  store: Store,
  compte: Pick<Principal, 'id_compte' | 'operateur'>,
  request: KeyRequest,
): Promise<{ key: string; row: CleRow }> {
  const portee = SCOPES.filter((scope) => scope === 'lecture' || request.portee.includes(scope))
  if (portee.length > 1 && !compte.operateur) {
    throw new Problem('scope_required', { detail: 'Only the account of an operator may have keys with this scope.' })
  }
  const key = makeApiKey()
  const now = nowSeconds()
  const row = await store.write({}, async (db) => {
    const live = await listCles(db, now, compte.id_compte)
    if (live.length >= MAX_LIVE_KEYS) {
      const errors = [{ parameter: 'nom', message: `would be key ${MAX_LIVE_KEYS + 1} of this account` }]
      throw new Problem('too_many_keys', { errors })
    }
    await purgeCles(db, now - REMEMBER_ENDED_SECONDS)
    return insertCle(db, {
      id_compte: compte.id_compte,
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
