import type { Principal, ServeAction } from '../contract.js'
import { faultOf, Problem } from '../errors.js'
import { formatInstant, nowSeconds, parseInstant } from '../instant.js'
import { SCOPES } from '../model/scopes.js'
import type { Store } from '../store/store.js'
import { createKey, isKeyName, isScope } from './cles.js'
import { listCles, revokeCle } from './cles-queries.js'
import { findNames } from './comptes-queries.js'
import * as contract from './contract.js'
import { sessionCookie } from './cookie.js'
import { endCredentials } from './ending.js'
import { SESSION_MAX_SECONDS } from './guard.js'
import { type Login, readLogin } from './login.js'
import { endSession } from './sessions-queries.js'

export interface AuthDeps {
  store: Store
  login: Login
  /** Whether /login takes the password in a query. */
  allowGetLogin: boolean
}

const COOKIE = 'service_session'

/** The ways in: open without a credential. */
export function loginRoutes(serve: ServeAction, { login, allowGetLogin }: AuthDeps): void {
  const signIn = async (given: Record<string, unknown>, from: { address: string; secure: boolean }) => {
    const { name, password } = readLogin(given)
    const { token, idAuteur, expiration } = await login.signIn(name, password, from.address)
    return {
      body: { service_session: token, id_auteur: String(idAuteur), expiration: formatInstant(expiration) },
      headers: { 'set-cookie': sessionCookie(COOKIE, token, SESSION_MAX_SECONDS, from.secure) },
    }
  }
  serve(contract.postLogin, (request) => signIn(readObject(request.body), request))
  if (allowGetLogin) serve(contract.getLogin, (request) => signIn(request.parameters, request))
}

/** What any credential may ask about itself. */
export function compteRoutes(serve: ServeAction, { store }: AuthDeps): void {
  serve(contract.getCompte, async ({ principal }) => {
    const { kind, id_compte, id_auteur, operateur, portee } = principal as Principal
    const names = await store.read((db) => findNames(db, id_compte))
    if (!names) throw new Problem('credential_revoked')
    const { login, nom } = names
    return { body: { login, id_auteur: String(id_auteur), nom, operateur, acces: kind, portee } }
  })
}

/** What a signed-in account does with its own session and keys. */
export function sessionRoutes(serve: ServeAction, { store }: AuthDeps): void {
  serve(contract.deleteLogin, async ({ principal, secure }) => {
    const { empreinte } = principal as Principal
    await endCredentials(store, (db) => endSession(db, empreinte, nowSeconds()))
    return { headers: { 'set-cookie': sessionCookie(COOKIE, '', 0, secure) } }
  })

  serve(contract.listApiKeys, async ({ principal }) => {
    const rows = await store.read((db) => listCles(db, nowSeconds(), principal?.id_compte))
    return { body: rows.map(contract.presentApiKey) }
  })

  serve(contract.createApiKey, async ({ principal, body }) => {
    const { id_compte, empreinte } = principal as Principal
    const { key, row } = await createKey(store, id_compte, readKeyRequest(readObject(body)), empreinte)
    return { body: { ...contract.presentApiKey(row), api_key: key } }
  })

  serve(contract.deleteApiKey, async ({ principal, parameters }) => {
    const { id_compte } = principal as Principal
    const ended = await endCredentials(store, (db) => revokeCle(db, parameters.id, nowSeconds(), id_compte))
    if (ended.length === 0) throw new Problem('resource_not_found')
    return {}
  })
}

function readKeyRequest(body: Record<string, unknown>) {
  const { nom, expiration, portee = [] } = body
  if (typeof nom !== 'string' || !isKeyName(nom)) {
    throw faultOf('invalid_body', 'nom', `takes a text of 1 to ${contract.MAX_KEY_NAME_CODE_POINTS} characters`)
  }
  if (!Array.isArray(portee) || !portee.every(isScope)) {
    throw faultOf('invalid_body', 'portee', `takes a list of ${SCOPES.join(', ')}`)
  }
  return { nom, expiration: readExpiration(expiration), portee }
}

function readExpiration(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  const instant = typeof value === 'string' ? parseInstant(value) : undefined
  if (instant === undefined || instant <= nowSeconds()) {
    throw faultOf('invalid_body', 'expiration', 'must be in the future, such as 2030-01-31T12:00:00Z')
  }
  return instant
}

function readObject(body: unknown): Record<string, unknown> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>
  throw new Problem('invalid_body', {
    detail: 'The body must be an object.',
    errors: [{ parameter: 'body', message: 'takes an object' }],
  })
}
