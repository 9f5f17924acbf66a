import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { ACCOUNT, addAccount, engines, startServer, type TestServer } from '../harness.js'
import { BOB, petitPortail, postLogin, problemOf, unlessShed } from '../wire.js'

const { login, password } = ACCOUNT
const RIGHT = { login, password }
const WRONG = { login, password: 'not the password' }
/** Long waits, because the tests share the machine. */
const PATIENT = { trustProxy: 'loopback', loginWaitSeconds: 60 }
/** 18 seconds into a minute, so 42 are left. */
const NOW = Date.UTC(2026, 0, 31, 12, 0, 18)

for (const engine of engines) {
  describe(engine, () => {
    let server: TestServer
    beforeAll(() => {
      vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    })
    afterAll(() => {
      vi.useRealTimers()
    })
    afterEach(async () => {
      vi.setSystemTime(NOW)
      await server.close()
    })

    const start = async (settings = {}) => {
      server = await startServer(petitPortail, { engine, settings: { ...PATIENT, ...settings } })
      await addAccount(server.store, BOB)
    }
    const attempt = async (given: object, address = '203.0.113.1') => {
      const response = await unlessShed(() => postLogin(server, given, { 'x-forwarded-for': address }))
      return response.status
    }
    const attempts = async (count: number, given: (i: number) => object, address?: string) => {
      const statuses = await Promise.all(Array.from({ length: count }, (_, i) => attempt(given(i), address)))
      return statuses.sort((a, b) => a - b)
    }
    const fill = (count: number, status: number) => Array<number>(count).fill(status)

    test('after 10 failed attempts a minute for a login from an address, even the right password is a 429 with Retry-After', async () => {
      await start()
      for (let i = 0; i < 10; i++) expect(await attempt(WRONG)).toBe(401)
      const response = await postLogin(server, RIGHT, { 'x-forwarded-for': '203.0.113.1' })
      expect(response.headers.get('retry-after')).toBe('42')
      await problemOf(response, 'login_throttled')
    })

    test('nobody else is locked out: neither the login from another address nor another login', async () => {
      await start()
      for (let i = 0; i < 100; i++) await attempt(WRONG)
      expect([await attempt(RIGHT), await attempt(RIGHT, '203.0.113.2'), await attempt(BOB)]).toEqual([429, 200, 200])
    })

    test('the next minute starts from zero', async () => {
      await start()
      await attempts(20, () => WRONG)
      vi.setSystemTime(Date.UTC(2026, 0, 31, 12, 1, 0))
      expect(await attempt(RIGHT)).toBe(200)
    })

    test('concurrent attempts are counted like sequential ones', async () => {
      await start()
      expect(await attempts(40, () => WRONG)).toEqual([...fill(10, 401), ...fill(30, 429)])
    })

    test('successes are never counted, whether sequential or concurrent', async () => {
      await start()
      for (let i = 0; i < 9; i++) expect(await attempt(WRONG)).toBe(401)
      for (let i = 0; i < 12; i++) expect(await attempt(RIGHT)).toBe(200)
      expect(await attempts(30, () => RIGHT)).toEqual(fill(30, 200))
      expect([await attempt(WRONG), await attempt(RIGHT)]).toEqual([401, 429])
    })

    test('after 60 failed attempts a minute for any logins, the address is refused and others are not', async () => {
      await start()
      expect(await attempts(64, (i) => ({ login: `guess ${i}`, password }))).toEqual([
        ...fill(60, 401),
        ...fill(4, 429),
      ])
      expect([await attempt(RIGHT), await attempt(RIGHT, '203.0.113.2')]).toEqual([429, 200])
    })

    test('the addresses of one IPv6 /64 count as one', async () => {
      await start()
      for (let i = 0; i < 10; i++) await attempt(WRONG, `2001:db8:1:2::${i + 1}`)
      expect([await attempt(RIGHT, '2001:db8:1:2:ffff::9'), await attempt(RIGHT, '2001:db8:1:3::1')]).toEqual([
        429, 200,
      ])
    })

    test('an attempt without a password, or from a page of another site, is not a failed login', async () => {
      await start()
      for (let i = 0; i < 15; i++) await attempt({ login })
      for (let i = 0; i < 15; i++) await postLogin(server, WRONG, { origin: 'https://evil.example' })
      expect(await attempt(RIGHT)).toBe(200)
    })

    test('both limits are configurable', async () => {
      await start({ loginRateLimit: 2, loginAddressRateLimit: 3 })
      expect(await attempts(3, () => WRONG)).toEqual([401, 401, 429])
      expect([await attempt({ ...WRONG, login: 'bob' }), await attempt(BOB)]).toEqual([401, 429])
    })
  })
}
