import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ACCOUNT, addAccount, addKey, engines, OPERATOR, startServer, type TestServer } from '../../test/harness.js'
import { BOB, petitPortail, problemOf, sessionOf } from '../../test/wire.js'
import { formatInstant, nowSeconds } from '../instant.js'

interface Cle {
  id: number
  nom: string
  prefixe: string
  portee: string[]
  creation: string
  expiration: string
  derniere_utilisation: string | null
  api_key?: string
}

const FIELDS = ['id', 'nom', 'prefixe', 'portee', 'creation', 'expiration', 'derniere_utilisation']
const YEAR_SECONDS = 365 * 24 * 3600

for (const engine of engines) {
  describe(engine, () => {
    let server: TestServer
    let alice: string
    let bob: string
    let operator: string
    beforeAll(async () => {
      server = await startServer(petitPortail, { engine })
      for (const account of [BOB, OPERATOR]) await addAccount(server.store, account)
      ;[alice, bob, operator] = [
        await sessionOf(server),
        await sessionOf(server, BOB),
        await sessionOf(server, OPERATOR),
      ]
    })
    beforeEach(async () => {
      await server.store.write({ comptes: true }, (db) => db.run(db.q.deleteFrom('cles_api')))
    })
    afterAll(() => server.close())

    const list = (cookie: string) => server.anonymous('/cles_api', { headers: { cookie } })
    const make = (cookie: string, body: unknown, headers: Record<string, string> = {}) =>
      server.anonymous('/cles_api', {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      })
    const made = async (cookie: string, body: unknown): Promise<Cle & { api_key: string }> => {
      const response = await make(cookie, body)
      expect(response.status).toBe(201)
      return (await response.json()) as Cle & { api_key: string }
    }
    const revoke = (cookie: string, id: number | string, headers = {}) =>
      server.anonymous(`/cles_api/${id}`, { method: 'DELETE', headers: { cookie, ...headers } })
    const read = async (key: string) =>
      (await server.anonymous('/challenges', { headers: { authorization: `Bearer ${key}` } })).status

    test('POST creates a key valid for a year and shows it once, with the fields of the list and api_key last', async () => {
      const before = nowSeconds()
      const response = await make(alice, { nom: 'tableau é' })
      expect([response.status, response.headers.get('content-type')]).toEqual([201, 'application/json; charset=utf-8'])
      const text = await response.text()
      expect(text).toContain('"nom":"tableau \\u00e9"')
      const { api_key, ...cle } = JSON.parse(text) as Cle & { api_key: string }
      expect(Object.keys(JSON.parse(text))).toEqual([...FIELDS, 'api_key'])
      expect(cle).toMatchObject({ nom: 'tableau é', portee: ['lecture'], derniere_utilisation: null })
      expect([cle.prefixe, api_key.startsWith(cle.prefixe)]).toEqual([expect.stringMatching(/^palm_\w{6}$/), true])
      const creation = Date.parse(cle.creation) / 1000
      expect([creation >= before && creation <= nowSeconds(), Date.parse(cle.expiration) / 1000]).toEqual([
        true,
        creation + YEAR_SECONDS,
      ])
      expect(await (await list(alice)).json()).toEqual([cle])
      expect(await read(api_key)).toBe(200)
    })

    test('GET lists only the live keys of the account, by ascending id, each once and with its fields in order', async () => {
      expect(await (await list(alice)).text()).toBe('[]')
      const own = [await made(alice, { nom: 'b' }), await made(alice, { nom: 'a' }), await made(alice, { nom: 'a' })]
      await made(bob, { nom: 'of another' })
      await addKey(server.store, ACCOUNT.login, { expiration: nowSeconds() })
      await revoke(alice, own[1]!.id)
      const cles = (await (await list(alice)).json()) as Cle[]
      expect(cles.map((cle) => cle.id)).toEqual([own[0]!.id, own[2]!.id])
      expect(own[0]!.id).toBeLessThan(own[2]!.id)
      for (const cle of cles) expect(Object.keys(cle)).toEqual(FIELDS)
    })

    test('no response of /cles_api may be cached', async () => {
      const cle = await made(alice, { nom: 'x' })
      for (const answer of [list(alice), make(alice, { nom: 'y' }), revoke(alice, cle.id)]) {
        const { headers } = await answer
        expect([headers.get('cache-control'), headers.get('etag')]).toEqual(['no-store', null])
      }
      const again = await server.anonymous('/cles_api', { headers: { cookie: alice, 'if-none-match': '*' } })
      expect(again.status).toBe(200)
    })

    test('HEAD answers as GET, without the body', async () => {
      const head = await server.anonymous('/cles_api', { method: 'HEAD', headers: { cookie: alice } })
      expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '2', ''])
    })

    test('DELETE revokes a key at once, and a second DELETE is a 404', async () => {
      const { id, api_key } = await made(alice, { nom: 'x' })
      expect(await read(api_key)).toBe(200)
      const response = await revoke(alice, id)
      expect([response.status, await response.text()]).toEqual([204, ''])
      const after = await server.anonymous('/challenges', { headers: { cookie: `api_key=${api_key}` } })
      await problemOf(after, 'credential_revoked')
      await problemOf(await revoke(alice, id), 'resource_not_found')
    })

    test("another account's key is a 404 like an unknown id, even for the session of an operator", async () => {
      const { id, api_key } = await made(bob, { nom: 'x' })
      for (const cookie of [alice, operator]) await problemOf(await revoke(cookie, id), 'resource_not_found')
      await problemOf(await revoke(alice, 999_999), 'resource_not_found')
      expect(await read(api_key)).toBe(200)
    })

    for (const id of ['0', '01', '-1', '1.0', 'x', '9007199254740992', '1'.repeat(5_000), '%31x']) {
      test(`an id of ${id.slice(0, 20)} is a 400 that names it`, async () => {
        const { errors } = await problemOf(await revoke(alice, id), 'invalid_parameter')
        expect(errors?.map((error) => error.parameter)).toEqual(['id'])
      })
    }

    test("a key can neither list, create nor revoke keys, even an operator's key with every scope", async () => {
      const portee = ['lecture', 'ecriture', 'export']
      const { id, api_key } = await made(operator, { nom: 'all', portee })
      for (const cookie of [`api_key=${api_key}`, `api_key=${await addKey(server.store, ACCOUNT.login)}`]) {
        await problemOf(await list(cookie), 'session_required')
        await problemOf(await make(cookie, { nom: 'x' }), 'session_required')
        await problemOf(await make(cookie, '{'), 'session_required')
        await problemOf(await revoke(cookie, id), 'session_required')
      }
    })

    test('every request without a credential is a 401', async () => {
      for (const answer of [list(''), make('', { nom: 'x' }), revoke('', 1)]) {
        await problemOf(await answer, 'credential_missing')
      }
    })

    describe('scopes', () => {
      for (const portee of [['ecriture'], ['export'], ['lecture', 'export'], ['ecriture', 'export', 'lecture']]) {
        test(`${portee} is granted to operators only`, async () => {
          await problemOf(await make(alice, { nom: 'x', portee }), 'scope_required')
          expect(await (await list(alice)).json()).toEqual([])
          const cle = await made(operator, { nom: 'x', portee })
          const all = ['lecture', 'ecriture', 'export']
          expect(cle.portee).toEqual(all.filter((scope) => scope === 'lecture' || portee.includes(scope)))
        })
      }

      test('every key has lecture exactly once, requested or not', async () => {
        for (const portee of [undefined, [], ['lecture'], ['lecture', 'lecture']]) {
          expect((await made(alice, { nom: 'x', portee })).portee).toEqual(['lecture'])
        }
      })
    })

    test('the 21st live key is a 400 too_many_keys; ended keys do not count', async () => {
      await addKey(server.store, ACCOUNT.login, { expiration: nowSeconds() })
      const first = await made(alice, { nom: 'key 1' })
      for (let i = 2; i <= 20; i++) await made(alice, { nom: `key ${i}` })
      await problemOf(await make(alice, { nom: 'key 21' }), 'too_many_keys')
      await made(bob, { nom: 'bob has his own twenty' })
      await revoke(alice, first.id)
      await made(alice, { nom: 'key 21' })
      expect(await (await list(alice)).json()).toHaveLength(20)
    })

    test('concurrent requests cannot create more than twenty keys', async () => {
      const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => make(alice, { nom: `key ${i}` })))
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(20)
      expect(answers.filter(({ status }) => status === 400)).toHaveLength(10)
    })

    describe('the body of POST', () => {
      test('accepts a future expiration and stores it as UTC seconds', async () => {
        const cle = await made(alice, { nom: 'x', expiration: '2099-01-31T14:00:00.5+02:00' })
        expect(cle.expiration).toBe('2099-01-31T12:00:00Z')
        const soon = formatInstant(nowSeconds() + 60)
        expect((await made(alice, { nom: 'x', expiration: soon })).expiration).toBe(soon)
        expect(Date.parse((await made(alice, { nom: 'x', expiration: null })).expiration)).toBeGreaterThan(Date.now())
      })

      const wrong: [string, unknown][] = [
        ['expiration', { nom: 'x', expiration: '2020-01-01T00:00:00Z' }],
        ['expiration', { nom: 'x', expiration: formatInstant(nowSeconds() - 1) }],
        ['expiration', { nom: 'x', expiration: '2099-02-30T00:00:00Z' }],
        ['expiration', { nom: 'x', expiration: 'tomorrow' }],
        ['expiration', { nom: 'x', expiration: '' }],
        ['expiration', { nom: 'x', expiration: 4_102_444_800 }],
        ['expiration', { nom: 'x', expiration: ['2099-01-01T00:00:00Z'] }],
        ['nom', {}],
        ['nom', { nom: '' }],
        ['nom', { nom: '   ' }],
        ['nom', { nom: 1 }],
        ['nom', { nom: ['x'] }],
        ['nom', { nom: 'x'.repeat(101) }],
        ['nom', { nom: 'a\0b' }],
        ['nom', { nom: 'a\u001b[2Jb' }],
        ['nom', { nom: 'a\nb' }],
        ['nom', { nom: 'a\u0085b' }],
        ['nom', '{"nom":"\\ud800"}'],
        ['portee', { nom: 'x', portee: 'lecture' }],
        ['portee', { nom: 'x', portee: ['tout'] }],
        ['portee', { nom: 'x', portee: ['LECTURE'] }],
        ['portee', { nom: 'x', portee: [['lecture']] }],
        ['portee', { nom: 'x', portee: { 0: 'lecture' } }],
        ['body', []],
        ['body', 'null'],
        ['body', '{'],
        ['body', ''],
      ]
      for (const [parameter, body] of wrong) {
        test(`${JSON.stringify(body).slice(0, 60)} is a 400 that names ${parameter}`, async () => {
          const { errors } = await problemOf(await make(alice, body), 'invalid_body')
          expect(errors?.map((error) => error.parameter)).toEqual([parameter])
          expect(await (await list(alice)).json()).toEqual([])
        })
      }

      test('a name has up to 100 characters, counted as code points', async () => {
        expect((await made(alice, { nom: '😀'.repeat(100) })).nom).toBe('😀'.repeat(100))
        await problemOf(await make(alice, { nom: '😀'.repeat(101) }), 'invalid_body')
      })

      test('a form is a 415, and more than 16 KiB a 413', async () => {
        const form = await server.anonymous('/cles_api', {
          method: 'POST',
          headers: { cookie: alice },
          body: new URLSearchParams({ nom: 'x' }),
        })
        await problemOf(form, 'unsupported_media_type')
        await problemOf(await make(alice, { nom: 'x'.repeat(17_000) }), 'body_too_large')
      })
    })

    test('a request from another site is refused before its body is parsed, and changes nothing', async () => {
      const cle = await made(alice, { nom: 'x' })
      for (const headers of [
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { 'sec-fetch-site': 'cross-site' },
      ]) {
        const sent = headers as unknown as Record<string, string>
        await problemOf(await make(alice, { nom: 'y' }, sent), 'foreign_origin')
        await problemOf(await make(alice, '{', sent), 'foreign_origin')
        await problemOf(await make(alice, 'x'.repeat(20_000), { ...sent, 'content-type': 'x/y' }), 'foreign_origin')
        await problemOf(await revoke(alice, cle.id, sent), 'foreign_origin')
      }
      expect(await (await list(alice)).json()).toHaveLength(1)
    })
  })
}
