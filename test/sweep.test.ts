import { Agent, type IncomingHttpHeaders, METHODS, request } from 'node:http'
import { Check } from 'typebox/schema'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { portail } from './fixtures.js'
import { ACCOUNT, addKey, engines, exportKey, startServer, type TestServer } from './harness.js'

/** The paths that need no credential. No others may answer without one. */
const OPEN = ['/health/live', '/health/ready', '/login', '/openapi.json', '/rootme/login']
/** The paths of the dialect, which the document does not describe, and their methods. */
const DIALECT: Record<string, string[]> = {
  '/rootme/login': ['GET', 'POST'],
  '/rootme/challenges': ['GET', 'HEAD'],
  '/rootme/challenges/1': ['GET', 'HEAD'],
  '/rootme/auteurs': ['GET', 'HEAD'],
  '/rootme/auteurs/1': ['GET', 'HEAD'],
  '/rootme/auteurs/1/x': ['GET', 'HEAD'],
  '/rootme/classement': ['GET', 'HEAD'],
  '/rootme/environnements_virtuels': ['GET', 'HEAD'],
  '/rootme/environnements_virtuels/1': ['GET', 'HEAD'],
}
const UNKNOWN_DIALECT = [
  '/rootme',
  '/rootme/',
  '//rootme/x',
  '/rootme/rubriques',
  '/rootme/login/x',
  '/rootme/classement/1',
]
const UNKNOWN = [
  ...UNKNOWN_DIALECT,
  '/nulle-part',
  '/auteurs/1/x',
  '/challenges/1/validations/2',
  '/login/x',
  '/health',
  '/.env',
  '/LOGIN',
]
/** Texts of these refusals, in the contract and in the dialect. */
const MISSING = /"code":"credential_missing"|"message":"Send the cookie/
const INVALID = /"code":"credential_invalid"|"message":"No account has this credential/
const NOT_SERVED = /"code":"path_not_found"|"message":"Nothing is served at this path/
const EVERY_METHOD = METHODS.filter((method) => method !== 'CONNECT')

// biome-ignore lint/suspicious/noExplicitAny: a JSON document
type Json = any

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

describe.each(engines)('every route on %s', (engine) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const requestIds = new Set<string>()
  let server: TestServer
  let document: Json
  let key: Record<string, string>

  beforeAll(async () => {
    server = await startServer(portail, { engine, logLevel: 'silent' })
    key = { cookie: `api_key=${server.key}` }
    document = await (await server.anonymous('/openapi.json')).json()
  })
  afterAll(async () => {
    agent.destroy()
    await server.close()
  })

  /** Sends a request and checks what every response must have. */
  async function send(method: string, path: string, headers = {}, body?: string): Promise<Answer> {
    const answer = await exchange(server.url + path, { method, headers, agent }, body)
    const id = answer.headers['x-request-id'] as string
    const place = `${method} ${path}`
    expect(id, place).toMatch(/^\S+$/)
    expect(requestIds.has(id), place).toBe(false)
    requestIds.add(id)
    expect(answer.headers, place).toMatchObject({ 'api-version': '1', 'x-content-type-options': 'nosniff' })
    expect(answer.text, place).toMatch(/^[\0-~]*$/)
    if (answer.status >= 400 && method !== 'HEAD') {
      if (/^\/+rootme/.test(path)) expectDialectError(answer, place)
      else expectProblem(answer, place)
    }
    return answer
  }

  function expectDialectError({ status, headers, text }: Answer, place: string): void {
    expect(headers['content-type'], place).toBe('application/json; charset=utf-8')
    const [{ error }] = JSON.parse(text)
    expect(text, place).toBe(JSON.stringify([{ error: { code: status, message: error.message } }]))
  }

  function expectProblem({ status, headers, text }: Answer, place: string): void {
    expect(headers['content-type'], place).toBe('application/problem+json')
    expectSchema({ $ref: '#/components/schemas/Problem' }, text, place)
    const problem = JSON.parse(text)
    expect(Object.keys(problem).slice(0, 6), place).toEqual(['type', 'title', 'status', 'detail', 'code', 'request_id'])
    expect(problem, place).toMatchObject({ status, request_id: headers['x-request-id'] })
    expect('errors' in problem, place).toBe(status === 400)
  }

  /** A field that the schema does not have is a fault, like a wrong type. */
  function expectSchema(schema: Json, text: string, place: string): void {
    expect(Check(closed(schema, document), JSON.parse(text)), `${place}: ${text.slice(0, 500)}`).toBe(true)
  }

  /** Every served path, with an existing id. */
  function servedPaths(): string[] {
    const described = Object.keys(document.paths).map((path) => path.replace(/\{\w+\}/g, '1'))
    return [...described, ...OPEN.filter(isUndescribed), ...Object.keys(DIALECT)]
  }
  const isUndescribed = (path: string) => !(path in document.paths) && !(path in DIALECT)

  test('is described in the document, which has those of the seed', () => {
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining([
        '/login',
        '/challenges',
        '/challenges/{id_challenge}',
        '/challenges/{id_challenge}/validations',
        '/rubriques',
        '/auteurs',
        '/auteurs/{id_auteur}',
        '/classement',
        '/environnements_virtuels',
        '/environnements_virtuels/{id_environnement_virtuel}',
        '/cles_api',
        '/cles_api/{id}',
        '/challenges/{id_challenge}/progression',
        '/auteurs/{id_auteur}/progression',
        '/classement/histogramme',
        '/classement/periodes',
        '/compte',
        '/exploitation',
        '/export',
        '/ctftime',
      ]),
    )
  })

  test('needs a credential for every method, as do unknown paths; only the open list does not', async () => {
    const open = new Set<string>()
    for (const path of [...servedPaths(), ...UNKNOWN]) {
      for (const method of EVERY_METHOD) {
        const { status, headers, text } = await send(method, path)
        expect(headers.location).toBeUndefined()
        if (status !== 401) open.add(path)
        else {
          expect([method, path, headers['www-authenticate']]).toEqual([method, path, expect.stringMatching(/^Bearer/)])
          if (method !== 'HEAD') expect(text).toMatch(MISSING)
        }
      }
    }
    expect([...open].sort()).toEqual(OPEN)
    expect(await send('DELETE', '/login')).toMatchObject({ status: 401 })
  })

  test.each([
    ['another portal', { cookie: `api_key=pal_${'x'.repeat(43)}` }],
    ['an empty cookie', { cookie: 'api_key=; service_session=' }],
    ['another scheme', { authorization: 'Basic YWxpY2U6YWxpY2U=' }],
    ['an unknown session', { cookie: `service_session=${'a'.repeat(43)}` }],
  ])('refuses a credential of %s as invalid', async (_, headers) => {
    for (const path of [...servedPaths(), ...UNKNOWN].filter((one) => !OPEN.includes(one))) {
      const answer = await send('GET', path, headers)
      expect([path, answer.status, answer.text]).toEqual([path, 401, expect.stringMatching(INVALID)])
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/)
    }
  })

  test('accepts one valid credential whatever else is sent, as a cookie or as Bearer', async () => {
    const other = await addKey(server.store, ACCOUNT.login)
    for (const headers of [
      { cookie: `service_session=faux; api_key=${server.key}` },
      { cookie: `api_key=faux; a=b; api_key=${server.key}`, authorization: 'Bearer faux' },
      { cookie: 'api_key=faux', authorization: `Bearer ${other}` },
      { authorization: `bearer ${other}` },
    ]) {
      expect((await send('GET', '/rubriques', headers)).status).toBe(200)
    }
  })

  test('answers an unsupported method with a 405 that lists the supported ones', async () => {
    for (const [template, operations] of Object.entries<Json>(document.paths)) {
      const taken = Object.keys(operations).map((method) => method.toUpperCase())
      if (taken.includes('GET') && template !== '/login') taken.push('HEAD')
      await expectRefused(template.replace(/\{\w+\}/g, '1'), taken)
    }
    for (const path of OPEN.filter(isUndescribed)) await expectRefused(path, ['GET', 'HEAD'])
    for (const [path, taken] of Object.entries(DIALECT)) await expectRefused(path, taken)
  })

  async function expectRefused(path: string, taken: string[]): Promise<void> {
    for (const method of EVERY_METHOD.filter((one) => !taken.includes(one))) {
      const { status, headers } = await send(method, path, key)
      expect([method, path, status, headers.allow?.split(', ').sort()]).toEqual([method, path, 405, taken.sort()])
    }
  }

  test('is a 404 with a credential if it is unknown, for every method', async () => {
    for (const path of UNKNOWN) {
      for (const method of EVERY_METHOD) {
        const { status, text } = await send(method, path, key)
        expect([method, path, status]).toEqual([method, path, 404])
        if (method !== 'HEAD') expect(text).toMatch(NOT_SERVED)
      }
    }
  })

  /** Sends a request and checks the response against the documented operation and status. */
  async function sendDescribed(template: string, method: string, path: string, headers = {}, body?: string) {
    const answer = await send(method, path, headers, body)
    const place = `${method} ${path}`
    const response = resolve(document.paths[template][method.toLowerCase()].responses[answer.status], document)
    expect(response, `${place} is ${answer.status}, which is not described`).toBeDefined()
    if (response.content === undefined) expect(answer.text, place).toBe('')
    else {
      const { schema } = response.content[answer.headers['content-type']?.split(';')[0] ?? ''] ?? {}
      expect(schema, place).toBeDefined()
      if (!isOfRecords(schema)) expectSchema(schema, answer.text, place)
    }
    return answer
  }

  /** Streamed bodies of records are documented by their Content-Type only, because fields vary by type. */
  const isOfRecords = (schema: Json) => schema?.type === 'string' || schema?.items?.additionalProperties === true

  test('every read answers as documented, for every record of the portal', async () => {
    const ids: Record<string, number[]> = { id_challenge: [], id_auteur: [], id_environnement_virtuel: [] }
    for (const line of portail)
      for (const [name, seen] of Object.entries(ids)) if (name in line) seen.push(line[name] as number)
    const statuses = new Map<string, Set<number>>()
    const whole = { authorization: `Bearer ${await exportKey(server)}` }
    for (const [template, { get }] of Object.entries<Json>(document.paths)) {
      if (!get?.responses['304']) continue
      const [, name] = /\{(\w+)\}/.exec(template) ?? []
      const paths = name
        ? [...new Set([...ids[name]!, 999, 'x'])].map((id) => template.replace(/\{\w+\}/, `${id}`))
        : [template]
      const key = /the scope `export`/.test(get.description) ? whole : { cookie: `api_key=${server.key}` }
      const takes = (name: string) => get.parameters.some((parameter: Json) => parameter.name === name)
      const queries = [
        '',
        ...(takes('limite') ? ['?limite=1', '?limite=0'] : takes('periode') ? ['?periode=x'] : []),
        ...(takes('id_auteur[]') ? ['?id_auteur=1,2,3'] : []),
        ...(takes('groupe') ? ['?groupe=lyc%C3%A9e%20b'] : []),
        ...(takes('format') ? ['?format=csv', '?format=json'] : []),
      ]
      const seen = new Set<number>()
      for (const path of paths) {
        for (const query of queries) seen.add((await sendDescribed(template, 'GET', path + query, key)).status)
      }
      const tag = (await send('GET', template.replace(/\{\w+\}/, '1'), key)).headers.etag
      const headers = { ...key, 'if-none-match': tag }
      seen.add((await sendDescribed(template, 'GET', template.replace(/\{\w+\}/, '1'), headers)).status)
      statuses.set(template, seen)
    }
    for (const [template, seen] of statuses) {
      const expected = template.includes('{')
        ? [200, 304, 400, 404]
        : ['/rubriques', '/classement/periodes', '/classement/regles', '/ctftime'].includes(template)
          ? [200, 304]
          : [200, 304, 400]
      expect([template, [...seen].sort()]).toEqual([template, expected])
    }
  })

  test('the routes of a signed-in account answer as documented', async () => {
    const { login, password } = ACCOUNT
    const json = { 'content-type': 'application/json' }
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const query = new URLSearchParams({ login, password })
    const ask = async (
      method: string,
      template: string,
      status: number,
      headers = {},
      body?: unknown,
      path = template,
    ) => {
      const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
      const answer = await sendDescribed(template, method, path, headers, sent)
      expect([method, path, answer.status]).toEqual([method, path, status])
      return answer.status < 300 && answer.text !== '' ? JSON.parse(answer.text) : undefined
    }
    await ask('GET', '/login', 200, {}, undefined, `/login?${query}`)
    await ask('POST', '/login', 200, form, `${query}`)
    await ask('POST', '/login', 400, json, { login })
    await ask('POST', '/login', 401, json, { login, password: 'faux' })
    await ask('POST', '/login', 403, { ...json, origin: 'https://evil.example' }, { login, password })
    await ask('POST', '/login', 413, json, { login, password: 'x'.repeat(20_000) })
    await ask('POST', '/login', 415, { 'content-type': 'text/plain' }, 'alice')
    const { service_session } = await ask('POST', '/login', 200, json, { login, password })
    const session = { cookie: `service_session=${service_session}` }

    await ask('GET', '/compte', 200, key)
    await ask('GET', '/compte', 401)
    await ask('GET', '/exploitation', 403, key)
    await ask('GET', '/export', 403, key)
    await ask('GET', '/exploitation', 403, session)
    await ask('GET', '/cles_api', 403, key)
    await ask('POST', '/cles_api', 400, { ...session, ...json }, { nom: '' })
    await ask('POST', '/cles_api', 403, { ...session, ...json }, { nom: 'robot', portee: ['ecriture'] })
    const made = await ask('POST', '/cles_api', 201, { ...session, ...json }, { nom: 'robot' })
    expect(await ask('GET', '/cles_api', 200, session)).toContainEqual(expect.objectContaining({ id: made.id }))
    await ask('DELETE', '/cles_api/{id}', 204, session, undefined, `/cles_api/${made.id}`)
    await ask('DELETE', '/cles_api/{id}', 404, session, undefined, `/cles_api/${made.id}`)
    await ask('DELETE', '/cles_api/{id}', 400, session, undefined, '/cles_api/x')
    await ask('DELETE', '/login', 204, session)
    await ask('GET', '/cles_api', 401, session)
  })
})

function exchange(url: string, options: object, body?: string): Promise<Answer> {
  return new Promise((done, reject) => {
    const sent = request(url, options, (response) => {
      let text = ''
      response.setEncoding('latin1').on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => done({ status: response.statusCode as number, headers: response.headers, text }))
    })
    sent.on('error', reject).end(body)
  })
}

/** The target of a reference in the document. */
function resolve(schema: Json, document: Json): Json {
  if (schema?.$ref === undefined) return schema
  return schema.$ref
    .slice(2)
    .split('/')
    .reduce((node: Json, name: string) => node[name], document)
}

/** The schema with references resolved, whose objects allow only the named fields. */
function closed(given: Json, document: Json): Json {
  const schema = resolve(given, document)
  if (Array.isArray(schema)) return schema.map((one) => closed(one, document))
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value, document)]))
  return 'properties' in copy || 'patternProperties' in copy ? { ...copy, additionalProperties: false } : copy
}
