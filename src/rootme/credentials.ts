import { CONTRACT_COOKIES, type Cookies } from '../http/admission.js'

export const SESSION_COOKIE = 'spip_session'

/** The contract's cookies, and the one of these clients: the author's id, `_`, and the session. */
export const ROOTME_COOKIES: Cookies = new Map([
  ...CONTRACT_COOKIES,
  [SESSION_COOKIE, { kind: 'session', secretIn: (value) => value.replace(/^\d+_/, '') }],
])

/** For signing in: an earlier session does not count, and must not take precedence over the key. */
export const KEY_COOKIES: Cookies = new Map([['api_key', { kind: 'cle' }]])

/** The value of the cookie and of the body of a login. */
export function sessionText({ idAuteur, token }: { idAuteur: number; token: string }): string {
  return `${idAuteur}_${token}`
}
