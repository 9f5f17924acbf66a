import Type, { type Static } from 'typebox'
import { endpoint, IdText, Instant, OrNull, presentInstant, Text } from '../contract.js'
import { formatInstant } from '../instant.js'
import { SCOPES } from '../model/scopes.js'
import { Id, id, text } from '../parameters.js'

const tags = {
  login: { name: 'login', description: 'Sign in and out.' },
  cles_api: { name: 'cles_api', description: "The signed-in account's API keys." },
}

export interface ApiKeyRow {
  id_cle: number
  nom: string
  prefixe: string
  portee: string
  creation: number
  expiration: number
  derniere_utilisation: number | null
}

export const MAX_LOGIN_CODE_POINTS = 100
/** In a query or a form; a password itself is bounded in bytes. */
const MAX_PASSWORD_CODE_POINTS = 1_024
export const MAX_KEY_NAME_CODE_POINTS = 100
export const MAX_LIVE_KEYS = 20

const loginText = text("The user's login.", MAX_LOGIN_CODE_POINTS)
const passwordText = text("The user's password.", MAX_PASSWORD_CODE_POINTS)
export const loginParameters = { login: loginText, password: passwordText }

const LoginBody = Type.Object({ login: loginText.schema, password: passwordText.schema })

const SignedIn = Type.Object({
  service_session: Text('The session, also set as the cookie service_session.'),
  id_auteur: IdText,
  expiration: Instant,
})

const loginErrors = ['invalid_parameter', 'invalid_body', 'login_refused', 'foreign_origin', 'login_throttled'] as const

export const postLogin = endpoint({
  method: 'POST',
  path: '/login',
  tag: tags.login,
  summary: 'Sign in',
  description: 'Creates a session of at most 30 days, or 7 without use, and sets it as a cookie.',
  requestBody: {
    schema: LoginBody,
    contentTypes: ['application/json', 'application/x-www-form-urlencoded'],
    example: '{"login":"alice","password":"correct horse battery staple"}',
  },
  response: SignedIn,
  errors: [...loginErrors, 'body_too_large', 'unsupported_media_type'],
})

export const getLogin = endpoint({
  path: '/login',
  tag: tags.login,
  summary: 'Sign in, with the login and the password in the query',
  description:
    'For programs: a browser that navigates here is refused. The query never reaches a log of ours, but it may reach others: prefer POST. An operator can turn this form off.',
  query: loginParameters,
  head: false,
  refusesForeign: true,
  response: SignedIn,
  errors: [...loginErrors],
})

export const deleteLogin = endpoint({
  method: 'DELETE',
  path: '/login',
  tag: tags.login,
  summary: 'End the session',
  status: 204,
  errors: ['foreign_origin', 'session_required'],
})

const ScopeName = Type.Enum([...SCOPES], { description: 'What a key may do.' })

const ApiKey = Type.Object({
  id: Id,
  nom: Text('What the key is for.'),
  prefixe: Text('The first characters of the key, to recognise it by.'),
  portee: Type.Array(ScopeName),
  creation: Instant,
  expiration: Instant,
  derniere_utilisation: OrNull(Instant),
})

export const listApiKeys = endpoint({
  path: '/cles_api',
  tag: tags.cles_api,
  summary: 'List the valid API keys of the account',
  response: Type.Array(ApiKey),
  errors: ['session_required'],
})

export const getCompte = endpoint({
  path: '/compte',
  tag: tags.login,
  summary: 'Get the account of the credential',
  response: Type.Object({
    login: Text("The account's login."),
    id_auteur: IdText,
    nom: Text("The author's name."),
    operateur: Type.Boolean({ description: 'Whether the account is marked operator.' }),
    acces: Type.Enum(['session', 'cle'], { description: 'Whether the credential is a session or an API key.' }),
    portee: Type.Array(ScopeName),
  }),
})

export const createApiKey = endpoint({
  method: 'POST',
  path: '/cles_api',
  tag: tags.cles_api,
  summary: 'Create an API key; it is shown only once',
  requestBody: {
    schema: Type.Object({
      nom: Type.String({ minLength: 1, maxLength: MAX_KEY_NAME_CODE_POINTS, description: 'What the key is for.' }),
      expiration: Type.Optional(Instant),
      portee: Type.Optional(Type.Array(ScopeName)),
    }),
    contentTypes: ['application/json'],
    example: '{"nom":"bot","portee":["lecture"]}',
  },
  response: Type.Object({ ...ApiKey.properties, api_key: Text('The key itself.') }),
  status: 201,
  errors: [
    'invalid_body',
    'too_many_keys',
    'foreign_origin',
    'session_required',
    'scope_required',
    'body_too_large',
    'unsupported_media_type',
  ],
})

export const deleteApiKey = endpoint({
  method: 'DELETE',
  path: '/cles_api/{id}',
  tag: tags.cles_api,
  summary: 'Revoke an API key',
  pathParameters: { id: id('The id of the key.') },
  status: 204,
  errors: ['invalid_parameter', 'foreign_origin', 'session_required', 'resource_not_found'],
})

export function presentApiKey(row: ApiKeyRow): Static<typeof ApiKey> {
  return {
    id: row.id_cle,
    nom: row.nom,
    prefixe: row.prefixe,
    portee: row.portee.split(' ') as Static<typeof ScopeName>[],
    creation: formatInstant(row.creation),
    expiration: formatInstant(row.expiration),
    derniere_utilisation: presentInstant(row.derniere_utilisation),
  }
}
