import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  ACCOUNT,
  addAccount,
  addKey,
  engines,
  exportFrom,
  importInto,
  OPERATOR,
  startServer,
  type TestServer,
} from '../../test/harness.js'
import { PATIENCE } from '../../test/patience.js'
import { BOB, dialectErrorOf, petitPortail, problemOf } from '../../test/wire.js'
import { revokeCle } from '../auth/cles-queries.js'
import { setDisabled } from '../auth/comptes-queries.js'
import { digest } from '../auth/tokens.js'
import { DAY_SECONDS, nowSeconds } from '../instant.js'

const { login, password } = ACCOUNT
const FORM = 'application/x-www-form-urlencoded'
const form = `${new URLSearchParams({ login, password })}`
const json = JSON.stringify({ login, password })

function multipart(fields: Record<string, string>): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.set(name, value)
  return data
}

const maxAgeOf = ({ headers }: Response) => Number(/Max-Age=(\d+)/.exec(headers.getSetCookie()[0]!)?.[1])

/** A lifetime is shorter by the time since it was set. */
function expectSoonBefore(seconds: number, whole: number): void {
  expect(seconds).toBeLessThanOrEqual(whole)
  expect(seconds).toBeGreaterThan(whole - PATIENCE.timeout / 1000)
}

describe.each(engines)('signing in on %s', (engine) => {
  let server: TestServer
  beforeAll(async () => {
    const settings = { loginRateLimit: 1_000, loginAddressRateLimit: 1_000 }
    server = await startServer(petitPortail, { engine, settings })
    await addAccount(server.store, BOB)
    await addAccount(server.store, OPERATOR)
  })
  afterAll(() => server.close())

  const post = (body: NonNullable<RequestInit['body']>, type?: string, path = '/rootme/login') =>
    server.anonymous(path, { method: 'POST', body, headers: type === undefined ? {} : { 'content-type': type } })
  const bytes = (text: string) => Buffer.from(text)
  const withCookie = (path: string, cookie: string, init: RequestInit = {}) =>
    server.anonymous(path, { ...init, headers: { ...(init.headers as Record<string, string>), cookie } })

  /** The session in a response, whose form it checks. */
  async function sessionIn(response: Response): Promise<string> {
    const text = await response.text()
    const [, session = ''] = /^\[\{"info":\{"code":200,"spip_session":"(\d+_[\w-]{43})"\}\}\]$/.exec(text) ?? []
    expect([response.status, session !== '' || text]).toEqual([200, true])
    return session
  }

  const ways: Record<string, () => Promise<Response>> = {
    'a POST form': () => post(new URLSearchParams({ login, password })),
    'POST JSON': () => post(json, 'application/json'),
    'a POST multipart form': () => post(multipart({ login, password })),
    'JSON under the type of a form': () => post(json, FORM),
    'JSON under text/plain': () => post(json, 'text/plain'),
    'a form under the type of JSON': () => post(form, 'application/json'),
    'a form without a type': () => post(bytes(form)),
    'JSON without a type': () => post(bytes(json)),
    'JSON behind a mark of byte order': () => post(bytes(`\ufeff${json}\r\n`), 'application/json; charset=utf-8'),
    'a form whose last value counts': () => post(`login=faux&${form}`, FORM),
    'a GET query': () => server.anonymous(`/rootme/login?${form}`),
    'the query of a POST': () => post('', FORM, `/rootme/login?${form}`),
    'a query behind doubled slashes': () => server.anonymous(`//rootme//login//?${form}&t=1`),
    'a GET with a key alone': () => withCookie('/rootme/login', `api_key=${server.key}`),
    'a GET with a key and an earlier session': () =>
      withCookie('/rootme/login', `spip_session=1_x; api_key=${server.key}`),
  }

  test.each(Object.keys(ways))(
    '%s opens a session, returned in the body and as a cookie, and may never be cached',
    async (way) => {
      const response = await ways[way]!()
      const session = await sessionIn(response.clone())
      expect(session).toMatch(/^1_/)
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
      const [cookie, ...others] = response.headers.getSetCookie()
      expect([cookie!.replace(/Max-Age=\d+/, ''), others]).toEqual([
        `spip_session=${session}; Path=/; ; HttpOnly; SameSite=Lax`,
        [],
      ])
      expectSoonBefore(maxAgeOf(response), 30 * DAY_SECONDS)
      expect([response.headers.get('cache-control'), response.headers.get('etag')]).toEqual(['no-store', null])
      for (const cookie of [`spip_session=${session}`, `a=b; spip_session="${session}"`]) {
        expect((await withCookie('/rootme/auteurs/1', cookie)).status).toBe(200)
      }
    },
  )

  test('the other credentials of the contract are accepted, and paths of the contract do not accept this cookie', async () => {
    const session = await sessionIn(await ways['a POST form']!())
    for (const cookie of [
      `api_key=${server.key}`,
      `service_session=${session.slice(2)}`,
      `api_key=x; spip_session=${session}`,
    ]) {
      expect((await withCookie('/rootme/classement', cookie)).status).toBe(200)
    }
    const headers = { authorization: `Bearer ${server.key}` }
    expect((await server.anonymous('/rootme/classement', { headers })).status).toBe(200)
    await problemOf(await withCookie('/classement', `spip_session=${session}`), 'credential_missing')
    await dialectErrorOf(await withCookie('/rootme/classement', `spip_session=${session}x`), 401)
  })

  test('a login and a password with special characters are decoded in every encoding', async () => {
    const account = { login: 'zoé', password: 'é+& %=😀ß12', idAuteur: 2 }
    await addAccount(server.store, account)
    const { idAuteur: _, ...given } = account
    for (const sent of [
      () => post(new URLSearchParams(given)),
      () => post(JSON.stringify(given), 'application/json'),
      () => post(multipart(given)),
      () => server.anonymous(`/rootme/login?${new URLSearchParams(given)}`),
    ]) {
      expect(await sessionIn(await sent())).toMatch(/^2_/)
    }
  })

  describe('is refused', () => {
    test.each<[string, () => Promise<Response>]>([
      ['a wrong password', () => post(JSON.stringify({ login, password: 'faux' }))],
      ['an unknown login', () => server.anonymous('/rootme/login?login=personne&password=x')],
      [
        'a wrong password beside a valid key',
        () => withCookie('/rootme/login?login=alice&password=x', `api_key=${server.key}`),
      ],
      ['an unknown key', () => withCookie('/rootme/login', 'api_key=faux')],
    ])('%s: 401', async (_, ask) => {
      const response = await ask()
      expect(response.headers.getSetCookie()).toEqual([])
      await dialectErrorOf(response, 401)
    })

    test.each<[string, RegExp, () => Promise<Response>]>([
      ['nothing', /^login takes a text that is not empty; password takes/, () => server.anonymous('/rootme/login')],
      [
        'a session alone',
        /^login takes/,
        async () => withCookie('/rootme/login', `spip_session=${await sessionIn(await ways['a POST form']!())}`),
      ],
      ['no password', /^password takes/, () => post('login=alice', FORM)],
      ['no login', /^login takes/, () => server.anonymous('/rootme/login?password=x')],
      ['an object as login', /^login takes/, () => post('{"login":{},"password":"x"}')],
      [
        'a login that is too long',
        /^login takes at most 100 characters/,
        () => post(`login=${'a'.repeat(101)}&password=x`, FORM),
      ],
      ['JSON that is cut off', /^body is not well-formed JSON/, () => post('{"login":"al', 'application/json')],
      ['a list', /^body takes an object/, () => post('[]', 'application/json')],
      [
        'an invalid multipart form',
        /^body is not the multipart form/,
        () => post('x', 'multipart/form-data; boundary=a'),
      ],
    ])('%s: 400 that names it', async (_, message, ask) => {
      expect(await dialectErrorOf(await ask(), 400)).toMatch(message)
    })

    test('a body that is too large is a 413, an encoded one a 415, another method a 405', async () => {
      await dialectErrorOf(await post('x'.repeat(16_385)), 413)
      const headers = { 'content-encoding': 'gzip' }
      await dialectErrorOf(await server.anonymous('/rootme/login', { method: 'POST', body: form, headers }), 415)
      const refused = await server.anonymous('/rootme/login', { method: 'DELETE' })
      expect(refused.headers.get('allow')).toBe('GET, POST')
      await dialectErrorOf(refused, 405)
      expect((await server.anonymous(`/rootme/login?${form}`, { method: 'HEAD' })).status).toBe(405)
    })

    test('a page of another origin is a 403 in every form, and no session is opened', async () => {
      for (const foreign of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
        const asks: RequestInit[] = [{ method: 'POST', body: json }, { method: 'POST', body: form }, {}]
        for (const init of asks) {
          const response = await withCookie('/rootme/login', `api_key=${server.key}`, { ...init, headers: foreign })
          expect(response.headers.getSetCookie()).toEqual([])
          await dialectErrorOf(response, 403)
        }
        await dialectErrorOf(await server.anonymous(`/rootme/login?${form}`, { headers: foreign }), 403)
      }
    })
  })

  test('no password and no session is logged', async () => {
    const session = await sessionIn(await server.anonymous(`/rootme/login?${form}`))
    await post(form, FORM)
    const log = server.log.join('\n')
    for (const secret of [session.slice(2), password, 'correct+horse', 'correct%20horse'])
      expect(log).not.toContain(secret)
    expect(log).toContain('"route":"/rootme/login"')
  })

  describe('a session opened by a key', () => {
    let key: string
    let session: string
    beforeEach(async () => {
      key = await addKey(server.store, OPERATOR.login)
      session = await sessionIn(await withCookie('/rootme/login', `api_key=${key}`))
    })
    const asService = (path: string, init: RequestInit = {}) =>
      withCookie(path, `service_session=${session.slice(2)}`, init)
    const changeKey = (values: object) =>
      server.store.write({ comptes: true }, (db) =>
        db.run(db.q.updateTable('cles_api').set(values).where('empreinte', '=', digest(key))),
      )

    const changeSessions = (values: object, sessions = [session]) =>
      server.store.write({ comptes: true }, (db) => {
        const empreintes = sessions.map((each) => digest(each.replace(/^\d+_/, '')))
        return db.run(db.q.updateTable('sessions').set(values).where('empreinte', 'in', empreintes))
      })

    test('reads by itself, and is treated as the key everywhere', async () => {
      expect((await withCookie('/rootme/auteurs/1', `spip_session=${session}`)).status).toBe(200)
      expect(await (await asService('/compte')).json()).toMatchObject({
        acces: 'cle',
        portee: ['lecture'],
        login: 'root',
      })
      await problemOf(await asService('/validations', { method: 'POST' }), 'scope_required')
    })

    test('is refused like a key, with 403: on /cles_api for every method, and on /exploitation', async () => {
      const headers = { 'content-type': 'application/json' }
      await problemOf(await asService('/cles_api'), 'session_required')
      await problemOf(
        await asService('/cles_api', { method: 'POST', headers, body: '{"nom":"x"}' }),
        'session_required',
      )
      await problemOf(await asService('/cles_api/1', { method: 'DELETE' }), 'session_required')
      await problemOf(await asService('/exploitation'), 'session_required')
    })

    test('has the scopes of its key, including ecriture', async () => {
      key = await addKey(server.store, OPERATOR.login, { portee: ['ecriture'] })
      session = await sessionIn(await withCookie('/rootme/login', `api_key=${key}`))
      expect(await (await asService('/compte')).json()).toMatchObject({ portee: ['lecture', 'ecriture'] })
    })

    const refused = async () => dialectErrorOf(await withCookie('/rootme/auteurs/1', `spip_session=${session}`), 401)

    test('ends when the key is revoked', async () => {
      const [{ id_cle }] = await keysOf(key)
      await server.store.write({ comptes: true }, (db) => revokeCle(db, id_cle, nowSeconds()))
      expect(await refused()).toMatch(/was revoked/)
    })

    test('ends when the key expires, which its cookie announces', async () => {
      await changeKey({ expiration: nowSeconds() + 1_000 })
      expectSoonBefore(maxAgeOf(await withCookie('/rootme/login', `api_key=${key}`)), 1_000)
      await changeKey({ expiration: nowSeconds() - 1 })
      expect(await refused()).toMatch(/has expired/)
    })

    test('ends when the key is removed by an import or moved to another account', async () => {
      const accounts = (await exportFrom(server.store, { withAccounts: true })).filter(({ type }) => type === 'compte')
      const compteOf = (name: string) => accounts.find((line) => line.login === name)!
      const cleOf = (line: Record<string, unknown>) =>
        (line.cles as { empreinte: string }[]).filter(({ empreinte }) => empreinte === digest(key))
      const root = { ...compteOf(OPERATOR.login), cles: [] }
      await importInto(server.store, [root], { withAccounts: true })
      await refused()
      const bob = { ...compteOf(BOB.login), cles: cleOf(compteOf(OPERATOR.login)) }
      await importInto(server.store, [compteOf(OPERATOR.login)], { withAccounts: true })
      session = await sessionIn(await withCookie('/rootme/login', `api_key=${key}`))
      expect(session).toMatch(/^1_/)
      await importInto(server.store, [root, bob], { withAccounts: true })
      await refused()
      expect(await sessionIn(await withCookie('/rootme/login', `api_key=${key}`))).toMatch(/^2_/)
    })

    test('ends after 7 days without use and after 30 days in all, while the key stays valid', async () => {
      await changeSessions({ derniere_utilisation: nowSeconds() - 7 * DAY_SECONDS - 1 })
      expect(await refused()).toMatch(/has expired/)
      await changeSessions({ derniere_utilisation: nowSeconds(), creation: nowSeconds() - 30 * DAY_SECONDS - 1 })
      expect(await refused()).toMatch(/has expired/)
      expect((await withCookie('/rootme/auteurs/1', `api_key=${key}`)).status).toBe(200)
    })

    test('records its use on itself, not on the key', async () => {
      const read = () =>
        server.store.read(async (db) => {
          const [row] = await db.select<{ cle: number | null; session: number }>(
            `select k.derniere_utilisation as cle, s.derniere_utilisation as session from sessions s
             join cles_api k on k.id_cle = s.id_cle where s.empreinte = '${digest(session.slice(2))}'`,
          )
          return row!
        })
      await expect.poll(async () => (await read()).cle).toBeGreaterThan(1)
      await changeKey({ derniere_utilisation: 1 })
      await changeSessions({ derniere_utilisation: nowSeconds() - 2 * DAY_SECONDS })
      expect((await withCookie('/rootme/auteurs/1', `spip_session=${session}`)).status).toBe(200)
      await expect.poll(async () => (await read()).session).toBeGreaterThan(nowSeconds() - DAY_SECONDS)
      expect((await read()).cle).toBe(1)
    })

    test('is the oldest to end past a hundred of one key, and sessions opened by password stay', async () => {
      const own = await sessionIn(await post(JSON.stringify({ login: OPERATOR.login, password: OPERATOR.password })))
      await changeSessions({ creation: nowSeconds() - DAY_SECONDS }, [session, own])
      for (let i = 0; i < 99; i++) await withCookie('/rootme/login', `api_key=${key}`)
      expect((await withCookie('/rootme/auteurs/1', `spip_session=${session}`)).status).toBe(200)
      await withCookie('/rootme/login', `api_key=${key}`)
      expect(await refused()).toMatch(/was revoked/)
      expect((await withCookie('/rootme/auteurs/1', `spip_session=${own}`)).status).toBe(200)
      for (let i = 0; i < 5; i++) await withCookie('/rootme/login', `api_key=${key}`)
      const [{ id_cle }] = await keysOf(key)
      const rows = await server.store.read((db) => db.select('select 1 from sessions where id_cle = ?', id_cle))
      expect(rows.length).toBeLessThanOrEqual(101)
    })

    test('ends when the account is disabled', async () => {
      const disable = (isDisabled: boolean) =>
        server.store.write({ comptes: true }, async (db) => {
          const [{ id_compte }] = (await db.select<{ id_compte: number }>(
            "select id_compte from comptes where login = 'root'",
          )) as [{ id_compte: number }]
          await setDisabled(db, id_compte, isDisabled)
        })
      await disable(true)
      expect(await refused()).toMatch(/was revoked/)
      await dialectErrorOf(await withCookie('/rootme/login', `api_key=${key}`), 401)
      await disable(false)
    })
  })

  async function keysOf(secret: string): Promise<[{ id_cle: number }]> {
    return server.store.read((db) =>
      db.all(db.q.selectFrom('cles_api').select('id_cle').where('empreinte', '=', digest(secret))),
    ) as Promise<[{ id_cle: number }]>
  }
})

describe('settings of the operator', () => {
  test('--refuse-get-login refuses a password in a query for every method, and still accepts a key alone', async () => {
    const server = await startServer(petitPortail, { settings: { refuseGetLogin: true } })
    for (const method of ['GET', 'POST']) {
      const message = await dialectErrorOf(await server.anonymous(`/rootme/login?${form}`, { method }), 400)
      expect(message).toMatch(/^login is not taken in an address here; send it in the body of a POST; password is not/)
    }
    expect((await server.anonymous('/rootme/login', { method: 'POST', body: json })).status).toBe(200)
    expect((await server.get('/rootme/login')).status).toBe(200)
    await server.close()
  })

  test('failed attempts are counted together with those at /login, and successes are not counted', async () => {
    const server = await startServer(petitPortail, { settings: { loginRateLimit: 2 } })
    const wrong = () => server.anonymous('/rootme/login', { method: 'POST', body: 'login=alice&password=faux' })
    const right = () => server.anonymous('/rootme/login', { method: 'POST', body: form })
    for (let i = 0; i < 3; i++) expect((await right()).status).toBe(200)
    await dialectErrorOf(await wrong(), 401)
    await problemOf(await server.anonymous('/login?login=alice&password=faux'), 'login_refused')
    await dialectErrorOf(await wrong(), 429)
    await problemOf(await server.anonymous('/login?login=alice&password=faux'), 'login_throttled')
    expect((await server.get('/rootme/login')).status).toBe(200)
    await server.close()
  })

  test('the cookie is Secure with a public address in HTTPS', async () => {
    const server = await startServer(petitPortail, { settings: { publicUrl: 'https://api.example' } })
    const { headers } = await server.get('/rootme/login')
    expect(headers.getSetCookie()[0]).toMatch(
      /^spip_session=1_[\w-]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/,
    )
    await server.close()
  })

  test('a login by key is charged to its account, any other to the address', async () => {
    const server = await startServer(petitPortail, { settings: { rateLimit: 5, addressRateLimit: 5 } })
    expect((await server.get('/rootme/login')).headers.get('ratelimit')).toMatch(/^"compte";r=4/)
    expect((await server.anonymous(`/rootme/login?${form}`)).headers.get('ratelimit')).toMatch(/^"adresse";r=4/)
    await server.close()
  })
})
