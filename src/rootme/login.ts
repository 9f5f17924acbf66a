import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sessionCookie } from '../auth/cookie.js'
import { type Login, type NewSession, readLogin } from '../auth/login.js'
import { invalidBody, Problem } from '../errors.js'
import { refuse } from '../http/methods.js'
import { addressOf, type Origins } from '../http/origin.js'
import { decodeQuery, type RawQuery } from '../http/query.js'
import { JSON_TYPE, queryOf } from '../http/serve.js'
import { nowSeconds } from '../instant.js'
import { toJsonBuffer } from '../json.js'
import { SESSION_COOKIE, sessionText } from './credentials.js'
import { decodeAny } from './query.js'

/** Parsing JSON blocks the event loop, and a login is much smaller. */
const MAX_LOGIN_BODY_BYTES = 16_384

export interface RootmeLogin {
  login: Login
  origins: Origins
  /** Whether a password may come in a query. */
  allowGetLogin: boolean
}

/** `/login`: by a form, by JSON, by a query, or by a key alone. Never cached. */
export function loginRoute(app: FastifyInstance, { login, origins, allowGetLogin }: RootmeLogin): void {
  takeAnyBody(app)
  app.route({
    method: ['GET', 'POST'],
    url: '/login',
    exposeHeadRoute: false,
    onRequest: async (request) => origins.refuseForeign(request),
    handler: async (request, reply) => {
      const session = await signIn(request)
      answer(reply, session, origins.isSecure(request))
    },
  })
  refuse(app, '/login', ['GET', 'POST'])

  async function signIn(request: FastifyRequest): Promise<NewSession> {
    const given = await readGiven(request, allowGetLogin)
    if (!isGiven(given) && request.principal) return login.signInByKey(request.principal)
    if (!isGiven(given) && request.credentialFault && request.credentialFault !== 'credential_missing')
      throw new Problem(request.credentialFault)
    const { name, password } = readLogin(given)
    return login.signIn(name, password, addressOf(request))
  }
}

function answer(reply: FastifyReply, session: NewSession, secure: boolean): void {
  const value = sessionText(session)
  const cookie = sessionCookie(SESSION_COOKIE, value, session.expiration - nowSeconds(), secure)
  reply
    .header('cache-control', 'no-store')
    .header('set-cookie', cookie)
    .header('content-type', JSON_TYPE)
    .send(toJsonBuffer([{ info: { code: 200, spip_session: value } }]))
}

type Given = Partial<Record<'login' | 'password', string>>

function isGiven({ login, password }: Given): boolean {
  return login !== undefined || password !== undefined
}

/** The login in the body, else in the query. Throws `invalid_body`, and `invalid_parameter` if the query may not contain it. */
async function readGiven(request: FastifyRequest, allowGetLogin: boolean): Promise<Given> {
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  const inBody = body.length > 0 ? await readBody(body, request.headers['content-type']) : {}
  if (isGiven(inBody)) return inBody
  const inQuery = fromQuery(decodeQuery(queryOf(request), decodeAny))
  if (!isGiven(inQuery) || allowGetLogin) return inQuery
  const message = 'is not taken in an address here; send it in the body of a POST'
  const errors = Object.keys(inQuery).map((parameter) => ({ parameter, message }))
  throw new Problem('invalid_parameter', { detail: `The password ${message}.`, errors })
}

/** Clients send wrong content types, so the text decides. Only a multipart form needs its header, for the boundary. */
async function readBody(bytes: Buffer, contentType = ''): Promise<Given> {
  if (/^multipart\/form-data\s*;/i.test(contentType)) return readMultipart(bytes, contentType)
  const text = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1').trim()
  if (/^[[{"]/.test(text)) return readJson(text)
  return fromQuery(decodeQuery(bytes.toString('latin1').trim(), decodeAny))
}

async function readMultipart(bytes: Buffer, contentType: string): Promise<Given> {
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => undefined)
  if (!form) throw invalidBody('is not the multipart form that its Content-Type says')
  return pick((name) => form.getAll(name).at(-1))
}

function readJson(text: string): Given {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw invalidBody('is not well-formed JSON')
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalidBody('takes an object')
  return pick((name) => (Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined))
}

function fromQuery(query: RawQuery): Given {
  return pick((name) => query.get(name)?.at(-1))
}

/** Texts, and numbers as texts; any other value counts as empty. */
function pick(find: (name: 'login' | 'password') => unknown): Given {
  const given: Given = {}
  for (const name of ['login', 'password'] as const) {
    const value = find(name)
    if (value === undefined) continue
    given[name] = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  }
  return given
}

function takeAnyBody(app: FastifyInstance): void {
  const bodyLimit = Math.min(MAX_LOGIN_BODY_BYTES, app.initialConfig.bodyLimit ?? MAX_LOGIN_BODY_BYTES)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (request, body, done) => {
    const encoding = request.headers['content-encoding'] ?? 'identity'
    if (/^identity$/i.test(encoding)) done(null, body)
    else done(new Problem('unsupported_media_type', { detail: 'A body is taken without a Content-Encoding.' }))
  })
}
