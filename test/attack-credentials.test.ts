import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { isSessionToken, makeApiKey, makeSessionToken } from '../src/auth/tokens.js'
import { ACCOUNT, addAccount, addKey, engines, startServer, type TestServer } from './harness.js'
import { readsDuring } from './reads.js'
import { BOB, petitPortail, problemOf, sessionOf, unlessShed } from './wire.js'

/** As many as fit in a head of 16 KiB. */
const MANY = 230
const NOW = Date.UTC(2026, 0, 31, 12, 0, 18)

const times = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))
const sessions = (count: number) => times(count, () => `service_session=${makeSessionToken()}`)
const keys = (count: number) => times(count, () => `api_key=${makeApiKey()}`)

describe.each(engines)('a request with many credentials on %s', (engine) => {
  let server: TestServer
  let minutes = 0
  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    server = await startServer(petitPortail, { engine, settings: { rateLimit: 600, addressRateLimit: 20 } })
    await addAccount(server.store, BOB)
    // The very first read is that of the journal.
    expect((await ask([`api_key=${server.key}`])).status).toBe(200)
  })
  // Each test has its own minute, so fresh budgets.
  beforeEach(() => {
    vi.setSystemTime(NOW + 60_000 * ++minutes)
  })
  afterAll(async () => {
    vi.useRealTimers()
    await server.close()
  })

  const ask = (cookies: readonly string[], headers: Record<string, string> = {}, path = '/rubriques') =>
    unlessShed(() => server.anonymous(path, { headers: { cookie: cookies.join('; '), ...headers } }))
  const newKey = async (login = ACCOUNT.login) => `api_key=${await addKey(server.store, login)}`

  describe('that are all invalid', () => {
    test('costs one read of the store, whatever their kind and position', async () => {
      const same = makeSessionToken()
      const attacks: [cookies: string[], headers?: Record<string, string>, path?: string][] = [
        [sessions(MANY)],
        [sessions(MANY).map((pair) => pair.replace('=', '="').concat('"'))],
        [keys(MANY - 40)],
        [[...keys(90), ...sessions(90)], { authorization: `Bearer ${makeApiKey()}` }],
        [times(MANY, () => `service_session=${same}`)],
        [sessions(MANY), {}, '/nowhere'],
        [keys(MANY - 40), {}, '/openapi.json'],
        [times(MANY, (i) => `spip_session=${i}_${makeSessionToken()}`), {}, '/rootme/auteurs'],
        [
          [...times(60, () => `spip_session=1_${makeSessionToken()}`), ...sessions(60), ...keys(60)],
          {},
          '/rootme/auteurs',
        ],
        [keys(MANY - 40), {}, '/rootme/login'],
      ]
      for (const [cookies, headers, path] of attacks) {
        const { reads, value } = await readsDuring(server, () => ask(cookies, headers, path))
        expect([path, cookies[0]?.slice(0, 16), value.status === 200, reads]).toEqual([
          path,
          cookies[0]?.slice(0, 16),
          path === '/openapi.json',
          1,
        ])
      }
    })

    test('is charged to its address before a second one is looked up; past its budget each request costs at most one read', async () => {
      const { reads, value } = await readsDuring(server, () => Promise.all(times(60, () => ask(sessions(MANY)))))
      const statuses = value.map(({ status }) => status).sort()
      expect(statuses).toEqual([...times(20, () => 401), ...times(40, () => 429)])
      expect(reads).toBeLessThanOrEqual(60)
      const late = await readsDuring(server, () =>
        ask(['api_key=x', 'service_session=x', ...times(50, () => 'api_key=')]),
      )
      await problemOf(late.value, 'address_limited')
      expect(late.reads).toBe(0)
    })
  })

  describe('with a valid one among them', () => {
    test('is admitted if that one is among the first four, sessions first; the others are ignored', async () => {
      expect((await ask([...keys(3), await newKey()])).status).toBe(200)
      await problemOf(await ask([...keys(4), await newKey()]), 'credential_invalid')
      expect((await ask([...keys(MANY - 60), await sessionOf(server)])).status).toBe(200)
      expect((await ask([...sessions(3), await newKey()])).status).toBe(200)
      await problemOf(await ask([...sessions(4), await newKey()]), 'credential_invalid')
      const bearer = (await newKey()).slice('api_key='.length)
      expect((await ask(keys(3), { authorization: `Bearer ${bearer}` })).status).toBe(200)
    })

    test('ignores duplicates and malformed credentials', async () => {
      const [again] = sessions(1) as [string]
      const malformed = [
        'service_session=',
        'service_session=x',
        'api_key=palm_x',
        'a=b',
        `api_key=${makeSessionToken()}`,
      ]
      expect(malformed.some((pair) => isSessionToken(pair.slice('service_session='.length)))).toBe(false)
      const cookies = [...times(60, () => again), ...times(60, (i) => malformed[i % 5] as string), await newKey()]
      const { reads, value } = await readsDuring(server, () => ask(cookies))
      expect([value.status, reads]).toEqual([200, 1])
    })

    test('is admitted without a read if that one is cached, unless others of its kind come first', async () => {
      const [session, key] = [await sessionOf(server), await newKey()]
      expect([(await ask([session])).status, (await ask([key])).status]).toEqual([200, 200])
      for (const cookies of [
        [session, ...sessions(MANY)],
        [key, ...keys(MANY - 40)],
        [session, ...keys(150)],
      ]) {
        const { reads, value } = await readsDuring(server, () => ask(cookies))
        expect([value.status, reads]).toEqual([200, 0])
      }
      for (const cookies of [
        [...sessions(MANY), session],
        [...keys(MANY - 40), key],
        [...sessions(150), key],
      ]) {
        const { reads, value } = await readsDuring(server, () => ask(cookies))
        expect([value.status, reads]).toEqual([200, 1])
      }
    })

    test('uses a session before a key, cached or not', async () => {
      const [session, key] = [await sessionOf(server, BOB), await newKey()]
      for (const cached of [[], [key], [key, session]]) {
        if (cached.length > 0) expect((await ask([cached.at(-1) as string])).status).toBe(200)
        const response = await ask([key, session], {}, '/compte')
        expect(await response.json()).toMatchObject({ login: BOB.login, acces: 'session' })
      }
    })

    test('is charged to its account only, and never refused because of its address', async () => {
      const left = (budget: string, r: number) => expect.stringMatching(new RegExp(`^"${budget}";r=${r};`))
      for (let i = 0; i < 25; i++) {
        const key = i < 5 ? await newKey(BOB.login) : `api_key=${server.key}`
        const { status, headers } = await ask([...sessions(2), key])
        expect([status, headers.get('ratelimit')]).toEqual([200, left('compte', i < 5 ? 599 - i : 604 - i)])
      }
      for (let i = 0; i < 20; i++) {
        const { headers } = await ask(sessions(i % 6))
        expect(headers.get('ratelimit')).toEqual(left('adresse', 19 - i))
      }
      await problemOf(await ask([]), 'address_limited')
      expect((await ask([`api_key=${server.key}`])).status).toBe(200)
    })

    test('is admitted past the budget of the address if that one is cached or the first well-formed one', async () => {
      await Promise.all(times(20, () => ask([])))
      const [first, second] = [await newKey(BOB.login), await newKey(BOB.login)]
      await problemOf(await ask([...keys(1), first]), 'address_limited')
      expect((await ask([first, ...keys(3)])).status).toBe(200)
      expect((await ask([...keys(3), first])).status).toBe(200)
      expect((await ask(['api_key=x', second, ...keys(3)])).status).toBe(200)
    })
  })

  test('reports the most specific reason why none is valid', async () => {
    const session = await sessionOf(server)
    expect((await server.anonymous('/login', { method: 'DELETE', headers: { cookie: session } })).status).toBe(204)
    await problemOf(await ask([...sessions(3), session, ...keys(20)]), 'credential_revoked')
    await problemOf(await ask([...sessions(MANY - 10), session]), 'credential_revoked')
    await problemOf(await ask(['service_session=x', 'api_key=']), 'credential_invalid')
    await problemOf(await ask([]), 'credential_missing')
  })
})
