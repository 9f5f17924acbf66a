import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ACCOUNT, addAccount, engines, startServer, type TestServer } from '../../test/harness.js'
import { BOB, exchange, parseAnswer, petitPortail, postLogin, problemOf, sessionOf } from '../../test/wire.js'
import { DAY_SECONDS, nowSeconds } from '../instant.js'
import { findCompte, setDisabled } from './comptes-queries.js'
import { insertSession } from './sessions-queries.js'
import { digest, makeSessionToken } from './tokens.js'

const { login, password } = ACCOUNT
const RIGHT = { login, password }
const WRONG = { login, password: 'not the password' }

/** What browsers send for a typed address, a link, a redirect, and a sibling under the same domain. */
const BROWSERS = [
  ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Site: none', 'Sec-Fetch-User: ?1'],
  ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Site: same-origin'],
  ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Site: same-site'],
  ['Sec-Fetch-Mode: navigate'],
  ['Sec-Fetch-Mode: no-cors', 'Sec-Fetch-Site: same-site'],
  ['Sec-Fetch-Mode: cors', 'Sec-Fetch-Site: same-site'],
]

for (const engine of engines) {
  describe(engine, () => {
    let server: TestServer
    beforeAll(async () => {
      const settings = { loginRateLimit: 1_000, loginAddressRateLimit: 1_000 }
      server = await startServer(petitPortail, { engine, settings })
      await addAccount(server.store, BOB)
    })
    afterAll(() => server.close())

    const postForm = (fields: Record<string, string> | string) =>
      server.anonymous('/login', { method: 'POST', body: new URLSearchParams(fields) })
    /** Node's fetch sets Sec-Fetch-Mode itself, so this writes the bytes. */
    const sendRaw = async (line: string, headers: string[], body = '') => {
      const head = [`${line} HTTP/1.1`, `Host: ${new URL(server.url).host}`, ...headers, 'Connection: close']
      return parseAnswer(await exchange(server.url, `${head.join('\r\n')}\r\n\r\n${body}`))
    }
    const getLogin = (fields: Record<string, string>, headers = {}) =>
      server.anonymous(`/login?${new URLSearchParams(fields)}`, { headers })

    describe('signing in', () => {
      const ways = {
        'POST JSON': () => postLogin(server),
        'POST form': () => postForm(RIGHT),
        'GET query': () => getLogin(RIGHT),
      }
      for (const [way, signIn] of Object.entries(ways)) {
        test(`${way} returns a session, the author's id as text and the expiration in 30 days`, async () => {
          const before = Math.floor(Date.now() / 1000)
          const response = await signIn()
          const after = Math.floor(Date.now() / 1000)
          expect(response.status).toBe(200)
          expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
          const text = await response.text()
          const [, session = '', expiration = ''] =
            /^\{"service_session":"([\w-]{43})","id_auteur":"1","expiration":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"\}$/.exec(
              text,
            ) ?? []
          const end = Date.parse(expiration) / 1000
          expect(end >= before + 30 * DAY_SECONDS && end <= after + 30 * DAY_SECONDS).toBe(true)
          expect(response.headers.getSetCookie()).toEqual([
            `service_session=${session}; Path=/; Max-Age=${30 * DAY_SECONDS}; HttpOnly; SameSite=Lax`,
          ])
          const read = await server.anonymous('/challenges', { headers: { cookie: `service_session=${session}` } })
          expect(read.status).toBe(200)
        })

        test(`${way} may never be cached and has no ETag`, async () => {
          const { headers } = await signIn()
          expect([headers.get('cache-control'), headers.get('etag')]).toEqual(['no-store', null])
        })
      }

      test('each sign-in creates a new session and ends no other', async () => {
        const [one, two] = [await sessionOf(server), await sessionOf(server)]
        expect(one).not.toBe(two)
        for (const cookie of [one, two]) {
          expect((await server.anonymous('/auteurs', { headers: { cookie } })).status).toBe(200)
        }
      })

      test('the 101st session of an account ends its oldest, and no other, for the next request', async () => {
        const many = { login: 'many', password: 'a hundred devices', idAuteur: 2 }
        await addAccount(server.store, many)
        const bob = await sessionOf(server, BOB)
        const tokens = Array.from({ length: 100 }, makeSessionToken)
        await server.store.write({}, async (db) => {
          const { id_compte } = (await findCompte(db, many.login))!
          const first = nowSeconds() - 200
          for (const [i, token] of tokens.entries()) {
            await insertSession(db, { empreinte: digest(token), id_compte, now: first + i })
          }
        })
        const ask = (cookie: string) => server.anonymous('/challenges', { headers: { cookie } })
        const [oldest, next, ...others] = tokens.map((token) => `service_session=${token}`) as [string, string]
        for (const cookie of [oldest, next]) expect((await ask(cookie)).status).toBe(200)
        const newest = await sessionOf(server, many)
        await problemOf(await ask(oldest), 'credential_revoked')
        for (const cookie of [next, ...others, newest, bob]) expect((await ask(cookie)).status).toBe(200)
      })

      test('a conditional sign-in is answered in full, because responses of /login have no ETag', async () => {
        expect((await postLogin(server, RIGHT, { 'if-none-match': '*' })).status).toBe(200)
        expect((await getLogin(RIGHT, { 'if-none-match': '*' })).status).toBe(200)
      })

      test('a parameter in the query of a POST is not read as part of its body', async () => {
        const response = await server.anonymous(`/login?${new URLSearchParams(RIGHT)}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{}',
        })
        await problemOf(response, 'invalid_parameter')
      })
    })

    describe('a refusal', () => {
      test('is the same for an unknown login, a wrong password and a disabled account', async () => {
        await server.store.write({ comptes: true }, (db) => setDisabled(db, 2, true))
        const refusals = [WRONG, { login: 'nobody', password }, { login: 'ALICE', password }, BOB].map(
          async (given) => {
            const body = await problemOf(await postLogin(server, { ...given, idAuteur: undefined }), 'login_refused')
            return { ...body, request_id: '' }
          },
        )
        const [first, ...others] = await Promise.all(refusals)
        for (const other of others) expect(other).toEqual(first)
        await server.store.write({ comptes: true }, (db) => setDisabled(db, 2, false))
        expect((await postLogin(server, BOB)).status).toBe(200)
      })

      test('sets no cookie', async () => {
        expect((await postLogin(server, WRONG)).headers.getSetCookie()).toEqual([])
      })

      test('the right password with extra characters is wrong, however long it is', async () => {
        const long = { login: 'long', password: 'é'.repeat(512), idAuteur: 2 }
        await addAccount(server.store, long)
        expect((await postLogin(server, long)).status).toBe(200)
        await problemOf(await postLogin(server, { login: 'long', password: `${long.password}y` }), 'login_refused')
      })

      for (const [parameter, given] of [
        ['login', { password }],
        ['password', { login }],
        ['login', { login: '', password }],
        ['password', { login, password: '' }],
      ] as const) {
        test(`${JSON.stringify(given)} is a 400 that names ${parameter}, in every form`, async () => {
          const fields = given as unknown as Record<string, string>
          for (const answer of [postLogin(server, given), postForm(fields), getLogin(fields)]) {
            const { errors } = await problemOf(await answer, 'invalid_parameter')
            expect(errors?.map((error) => error.parameter)).toEqual([parameter])
          }
        })
      }

      for (const value of [null, 1, true, [], ['alice'], {}, 'a\0b']) {
        test(`a login or password of ${JSON.stringify(value)} is a 400 that names it`, async () => {
          for (const parameter of ['login', 'password']) {
            const { errors } = await problemOf(
              await postLogin(server, { ...RIGHT, [parameter]: value }),
              'invalid_parameter',
            )
            expect(errors?.map((error) => error.parameter)).toEqual([parameter])
          }
        })
      }

      test('an unpaired surrogate in a login or a password is a 400 that names it', async () => {
        for (const parameter of ['login', 'password']) {
          const body = JSON.stringify({ ...RIGHT, [parameter]: 'abc\ud800' })
          expect(body).toContain(String.raw`\ud800`)
          const { errors } = await problemOf(await postLogin(server, body), 'invalid_parameter')
          expect(errors?.map((error) => error.parameter)).toEqual([parameter])
        }
      })

      test('two different values of one parameter are a 400, in a query and in a form', async () => {
        const twice = `login=alice&login=bob&password=${encodeURIComponent(password)}`
        await problemOf(await server.anonymous(`/login?${twice}`), 'invalid_parameter')
        await problemOf(await postForm(twice), 'invalid_parameter')
      })

      for (const body of [
        '',
        '{',
        '{"login":"alice","pass',
        'null',
        '[]',
        '"alice"',
        '1',
        'login=alice',
        '{"login":"alice"}x',
        '{"__proto__":{"login":"alice"}}',
        '['.repeat(8_000),
        `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`,
        '\u{feff}\u{feff}{}',
      ]) {
        test(`a JSON body ${JSON.stringify(body.slice(0, 30))} (${body.length} characters) is a 400`, async () => {
          const response = await postLogin(server, body)
          const { code } = (await response.clone().json()) as { code: 'invalid_body' | 'invalid_parameter' }
          expect(['invalid_body', 'invalid_parameter']).toContain(code)
          await problemOf(response, code)
        })
      }

      test('a body over 16 KiB is a 413, with or without a Content-Length', async () => {
        const json = JSON.stringify({ ...RIGHT, more: 'x'.repeat(16_384) })
        await problemOf(await postLogin(server, json), 'body_too_large')
        const stream = new Blob([json]).stream()
        const init = { method: 'POST', body: stream, duplex: 'half', headers: { 'content-type': 'application/json' } }
        await problemOf(await server.anonymous('/login', init as RequestInit), 'body_too_large')
      })

      for (const type of [
        'text/plain',
        'multipart/form-data; boundary=x',
        'application/xml',
        'application/jsonx',
        'x',
      ]) {
        test(`a body of ${type} is a 415`, async () => {
          await problemOf(await postLogin(server, RIGHT, { 'content-type': type }), 'unsupported_media_type')
        })
      }

      test('a body with a Content-Encoding is a 415, whatever its bytes', async () => {
        for (const encoding of ['gzip', 'br', 'deflate', 'x']) {
          const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
          for (const body of [gzipSync(JSON.stringify(RIGHT)), JSON.stringify(RIGHT)]) {
            const response = await server.anonymous('/login', { method: 'POST', headers, body })
            await problemOf(response, 'unsupported_media_type')
          }
        }
      })

      test('HEAD is a 405, with or without a password in the query', async () => {
        for (const path of ['/login', `/login?${new URLSearchParams(RIGHT)}`]) {
          const response = await server.anonymous(path, { method: 'HEAD' })
          expect([response.status, response.headers.get('allow')]).toEqual([405, 'DELETE, GET, POST'])
          expect(response.headers.getSetCookie()).toEqual([])
        }
      })
    })

    describe('DELETE /login', () => {
      const leave = (headers: Record<string, string>) => server.anonymous('/login', { method: 'DELETE', headers })

      test('ends the session and clears its cookie', async () => {
        const cookie = await sessionOf(server)
        const response = await leave({ cookie })
        expect([response.status, await response.text()]).toEqual([204, ''])
        expect(response.headers.getSetCookie()).toEqual(['service_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax'])
        await problemOf(await server.anonymous('/challenges', { headers: { cookie } }), 'credential_revoked')
        await problemOf(await leave({ cookie }), 'credential_revoked')
      })

      test('requires a session: without one it is a 401, with a key a 403', async () => {
        await problemOf(await leave({}), 'credential_missing')
        await problemOf(await leave({ cookie: `api_key=${server.key}` }), 'session_required')
        await problemOf(await leave({ authorization: `Bearer ${server.key}` }), 'session_required')
      })

      test('ends the session even if a key is sent with it', async () => {
        const cookie = await sessionOf(server)
        expect((await leave({ cookie, authorization: `Bearer ${server.key}` })).status).toBe(204)
        expect((await server.get('/challenges')).status).toBe(200)
      })
    })

    describe('a foreign origin', () => {
      const foreign = [
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { origin: 'http://127.0.0.1.evil.example' },
        { 'sec-fetch-site': 'cross-site' },
        { origin: 'OWN', 'sec-fetch-site': 'cross-site' },
      ] as Record<string, string>[]
      for (const sent of foreign) {
        test(`is refused on /login for every method: ${JSON.stringify(sent)}`, async () => {
          const headers = { ...sent, ...(sent.origin === 'OWN' ? { origin: server.url } : {}) }
          const cookie = await sessionOf(server)
          const answers = [
            postLogin(server, RIGHT, headers),
            server.anonymous('/login', { method: 'POST', headers, body: new URLSearchParams(RIGHT) }),
            getLogin(RIGHT, headers),
            server.anonymous('/login', { method: 'DELETE', headers: { ...headers, cookie } }),
          ]
          for (const answer of answers) {
            const response = await answer
            expect(response.headers.getSetCookie()).toEqual([])
            await problemOf(response, 'foreign_origin')
          }
          expect((await server.anonymous('/challenges', { headers: { cookie } })).status).toBe(200)
        })
      }

      for (const sent of BROWSERS) {
        test(`is refused a password in a query, as is any browser navigation: ${sent.join(', ')}`, async () => {
          for (const path of ['/login', '/rootme/login']) {
            const response = await sendRaw(`GET ${path}?${new URLSearchParams(RIGHT)}`, sent)
            expect([path, response.status, response.headers.getSetCookie()]).toEqual([path, 403, []])
            expect(await response.text()).toContain('Browsers cannot sign in with a link')
          }
        })
      }

      test('fetches of our own page, and programs, may send the password in a query', async () => {
        for (const sent of [[], ['Sec-Fetch-Mode: cors', 'Sec-Fetch-Site: same-origin'], ['Sec-Fetch-Mode: no-cors']]) {
          for (const path of ['/login', '/rootme/login']) {
            const response = await sendRaw(`GET ${path}?${new URLSearchParams(RIGHT)}`, sent)
            expect([path, sent, response.status]).toEqual([path, sent, 200])
          }
        }
      })

      test('a form of our own page may sign in by POST', async () => {
        const body = String(new URLSearchParams(RIGHT))
        const type = ['Content-Type: application/x-www-form-urlencoded', `Content-Length: ${body.length}`]
        const sent = ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Site: same-origin', `Origin: ${server.url}`, ...type]
        for (const path of ['/login', '/rootme/login']) {
          expect([path, (await sendRaw(`POST ${path}`, sent, body)).status]).toEqual([path, 200])
        }
      })

      test('is refused before its body is read', async () => {
        const response = await postLogin(server, '{'.repeat(20_000), { origin: 'https://evil.example' })
        await problemOf(response, 'foreign_origin')
      })

      for (const headers of [
        { 'sec-fetch-site': 'same-origin' },
        { 'sec-fetch-site': 'none' },
        { origin: 'OWN' },
      ] as Record<string, string>[]) {
        test(`does not include ${JSON.stringify(headers)}, which signs in`, async () => {
          const own = headers.origin ? { origin: server.url } : headers
          expect((await postLogin(server, RIGHT, own)).status).toBe(200)
        })
      }
    })
  })

  describe(`${engine}, settings`, () => {
    let server: TestServer | undefined
    afterEach(() => server?.close())

    test('--refuse-get-login disables the password in a query; POST still works', async () => {
      server = await startServer(petitPortail, { engine, settings: { refuseGetLogin: true } })
      const response = await server.anonymous(`/login?${new URLSearchParams(RIGHT)}`)
      expect([response.headers.get('allow'), response.headers.getSetCookie()]).toEqual(['DELETE, POST', []])
      await problemOf(response, 'method_not_allowed')
      expect((await postLogin(server)).status).toBe(200)
    })

    test('an https public address makes the cookie Secure, and its origin is the only one accepted', async () => {
      server = await startServer(petitPortail, { engine, settings: { publicUrl: 'https://api.example/' } })
      const response = await postLogin(server, RIGHT, { origin: 'https://api.example' })
      expect(response.headers.getSetCookie()[0]).toMatch(/; Secure$/)
      await problemOf(await postLogin(server, RIGHT, { origin: server.url }), 'foreign_origin')
      await problemOf(await postLogin(server, RIGHT, { origin: 'http://api.example' }), 'foreign_origin')
    })

    test('X-Forwarded-Proto makes the cookie Secure only if the proxy is trusted', async () => {
      server = await startServer(petitPortail, { engine, settings: { trustProxy: 'loopback' } })
      const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' }
      expect((await postLogin(server, RIGHT, forwarded)).headers.getSetCookie()[0]).toMatch(/; Secure$/)
      await server.close()
      server = await startServer(petitPortail, { engine })
      expect((await postLogin(server, RIGHT, forwarded)).headers.getSetCookie()[0]).not.toMatch(/Secure/)
    })
  })
}
