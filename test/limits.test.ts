import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { addressKey } from '../src/limits/address.js'
import { LocalLimiter, LocalLimits } from '../src/limits/local.js'
import type { ServeOptions } from '../src/options.js'
import { ACCOUNT, addAccount, addKey, engines, startServer, type TestServer } from './harness.js'
import { BOB, petitPortail, postLogin, problemOf, sessionOf } from './wire.js'

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

    const start = async (settings: Partial<ServeOptions> = {}) => {
      server = await startServer(petitPortail, { engine, settings: { rateLimit: 600, ...settings } })
    }
    const budgetOf = ({ headers }: Response) => [headers.get('ratelimit'), headers.get('ratelimit-policy')]
    const path = '/challenges/1'
    const from = (address: string) => server.anonymous(path, { headers: { 'x-forwarded-for': address } })
    const spend = async (count: number, ask: () => Promise<Response>) => {
      for (let i = 0; i < count; i++) await (await ask()).arrayBuffer()
    }

    describe('by default', () => {
      test('an account has 600 requests a minute and an address without a credential 300', async () => {
        await start()
        expect(budgetOf(await server.get(path))).toEqual(['"compte";r=599;t=42', '"compte";q=600;w=60'])
        expect(budgetOf(await server.anonymous(path))).toEqual(['"adresse";r=299;t=42', '"adresse";q=300;w=60'])
      })

      test('the 601st and the 301st are refused until the minute ends', async () => {
        await start()
        await spend(599, () => server.get(path))
        await spend(299, () => server.anonymous(path))
        expect([(await server.get(path)).status, (await server.anonymous(path)).status]).toEqual([200, 401])
        const [account, address] = [await server.get(path), await server.anonymous(path)]
        expect([account, address].map(({ headers }) => headers.get('retry-after'))).toEqual(['42', '42'])
        expect(budgetOf(account)).toEqual(['"compte";r=0;t=42', '"compte";q=600;w=60'])
        expect(budgetOf(address)).toEqual(['"adresse";r=0;t=42', '"adresse";q=300;w=60'])
        await problemOf(account, 'rate_limited')
        await problemOf(address, 'address_limited')
        vi.setSystemTime(Date.UTC(2026, 0, 31, 12, 1, 0))
        expect(budgetOf(await server.get(path))[0]).toBe('"compte";r=599;t=60')
        expect(budgetOf(await server.anonymous(path))[0]).toBe('"adresse";r=299;t=60')
      })
    })

    describe('an account', () => {
      test('has one budget for all its keys and sessions, and other accounts have their own', async () => {
        await start({ rateLimit: 4 })
        await addAccount(server.store, BOB)
        const [cookie, other] = [await sessionOf(server), await addKey(server.store, ACCOUNT.login)]
        await spend(2, () => server.get(path))
        await spend(1, () => server.anonymous(path, { headers: { cookie } }))
        await spend(1, () => server.anonymous(path, { headers: { authorization: `Bearer ${other}` } }))
        for (const headers of [{ cookie }, { authorization: `Bearer ${other}` }, { cookie: `api_key=${server.key}` }]) {
          await problemOf(await server.anonymous(path, { headers: headers as Record<string, string> }), 'rate_limited')
        }
        const bob = await addKey(server.store, BOB.login)
        expect((await server.anonymous(path, { headers: { authorization: `Bearer ${bob}` } })).status).toBe(200)
      })

      test('is refused before any 404, 405, 403, 400 or 304', async () => {
        await start({ rateLimit: 1 })
        const { headers } = await server.get(path)
        const etag = headers.get('etag') as string
        for (const [wrong, init] of [
          ['/nothing', {}],
          ['/challenges', { method: 'DELETE' }],
          ['/cles_api', {}],
          ['/challenges?limite=x', {}],
          [path, { headers: { 'if-none-match': etag } }],
          ['/challenges/99', {}],
        ] as [string, RequestInit][]) {
          await problemOf(await server.get(wrong, init), 'rate_limited')
        }
      })

      test('is charged for refusals: 404, 405, 403 and 400 count', async () => {
        await start({ rateLimit: 5 })
        await server.get('/nothing')
        await server.get('/challenges', { method: 'DELETE' })
        await server.get('/cles_api')
        expect(budgetOf(await server.get('/challenges?limite=x'))[0]).toBe('"compte";r=1;t=42')
      })

      test('is not charged for a 304 while budget is left', async () => {
        await start({ rateLimit: 2 })
        const etag = (await server.get(path)).headers.get('etag') as string
        for (let i = 0; i < 5; i++) {
          const response = await server.get(path, { headers: { 'if-none-match': etag } })
          expect([response.status, budgetOf(response)[0]]).toEqual([304, '"compte";r=1;t=42'])
        }
        expect((await server.get(path)).status).toBe(200)
        await problemOf(await server.get(path, { headers: { 'if-none-match': etag } }), 'rate_limited')
      })

      test('is never charged to its address, nor refused with it', async () => {
        await start({ addressRateLimit: 1 })
        await spend(3, () => server.anonymous(path))
        await spend(3, () => server.get(path))
        expect((await server.get(path)).status).toBe(200)
      })
    })

    describe('an address without a valid credential', () => {
      test('gets 401 while budget is left and 429 afterwards, whatever the path, the method and the credential', async () => {
        await start({ addressRateLimit: 2 })
        await problemOf(await server.anonymous(path), 'credential_missing')
        await problemOf(await server.anonymous(path, { headers: { cookie: 'api_key=x' } }), 'credential_invalid')
        for (const [wrong, init] of [
          [path, {}],
          [path, { headers: { cookie: 'api_key=x' } }],
          ['/nothing', {}],
          ['/challenges', { method: 'DELETE' }],
          ['/login', { method: 'PUT' }],
          ['/openapi.json', {}],
        ] as [string, RequestInit][]) {
          await problemOf(await server.anonymous(wrong, init), 'address_limited')
        }
        await problemOf(await postLogin(server), 'address_limited')
      })

      test('is charged for the description of the API, but not for a 304 of it, nor for health', async () => {
        await start({ addressRateLimit: 3 })
        const response = await server.anonymous('/openapi.json')
        expect(budgetOf(response)[0]).toBe('"adresse";r=2;t=42')
        const headers = { 'if-none-match': response.headers.get('etag') as string }
        for (let i = 0; i < 5; i++) {
          const again = await server.anonymous('/openapi.json', { headers })
          expect([again.status, budgetOf(again)[0]]).toEqual([304, '"adresse";r=2;t=42'])
        }
        for (let i = 0; i < 5; i++) {
          const probe = await server.anonymous('/health/live')
          expect([probe.status, budgetOf(probe)]).toEqual([200, [null, null]])
        }
      })

      test('is the one of the connection, whatever X-Forwarded-For a stranger sends', async () => {
        await start({ addressRateLimit: 1 })
        expect([(await from('203.0.113.1')).status, (await from('203.0.113.2')).status]).toEqual([401, 429])
      })

      test('is the one of X-Forwarded-For if --trust-proxy names the proxy', async () => {
        await start({ addressRateLimit: 1, trustProxy: '127.0.0.0/8' })
        expect([(await from('203.0.113.1')).status, (await from('203.0.113.2')).status]).toEqual([401, 401])
        expect((await from('198.51.100.7, 203.0.113.1')).status).toBe(429)
        expect((await from('198.51.100.7')).status).toBe(401)
      })

      test('is the one of the connection if --trust-proxy names another proxy', async () => {
        await start({ addressRateLimit: 1, trustProxy: '192.0.2.1' })
        expect([(await from('203.0.113.1')).status, (await from('203.0.113.2')).status]).toEqual([401, 429])
      })

      test('shares its budget with its IPv6 /64', async () => {
        await start({ addressRateLimit: 1, trustProxy: 'loopback' })
        expect([(await from('2001:db8::1')).status, (await from('2001:db8::ffff:0:0:2')).status]).toEqual([401, 429])
        expect((await from('2001:db8:0:1::1')).status).toBe(401)
      })
    })

    test('a rate limit of 0 disables the limits of accounts and addresses, headers included', async () => {
      await start({ rateLimit: 0, addressRateLimit: 1 })
      await spend(5, () => server.anonymous(path))
      const [account, address] = [await server.get(path), await server.anonymous(path)]
      expect([account.status, address.status]).toEqual([200, 401])
      expect([budgetOf(account), budgetOf(address)]).toEqual(Array(2).fill([null, null]))
    })

    test('limits of the head, of the body and of a filter are configurable', async () => {
      await start({ maxHeadBytes: 2_048, maxBodyBytes: 1_024, maxFilterCharacters: 3 })
      await problemOf(await postLogin(server, { login: 'x'.repeat(1_100) }), 'body_too_large')
      expect((await server.get(path, { headers: { x: 'x'.repeat(2_100) } })).status).toBe(431)
      await problemOf(await server.get('/challenges?titre=four'), 'invalid_parameter')
      expect((await server.get('/challenges?titre=thr')).status).toBe(200)
    })
  })
}

describe('a limiter', () => {
  const at = (seconds: number) => seconds * 1000

  test('never allows more than its quota in a window, whatever the order of callers', () => {
    const asked = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 60 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), asked, (quota, callers) => {
        const limiter = new LocalLimiter(quota, 60, () => at(90))
        const allowed = new Map<string, number>()
        for (const caller of callers) {
          const used = allowed.get(caller) ?? 0
          const budget = limiter.take(caller)
          expect(budget).toEqual({ allowed: used < quota, remaining: Math.max(0, quota - used - 1), resetSeconds: 30 })
          if (budget.allowed) allowed.set(caller, used + 1)
        }
      }),
    )
  })

  test('gives back no more than was taken', () => {
    const limiter = new LocalLimiter(2, 60, () => at(0))
    limiter.giveBack('a')
    expect(limiter.take('a').remaining).toBe(1)
    for (let i = 0; i < 3; i++) limiter.giveBack('a')
    expect([limiter.take('a').remaining, limiter.take('a').remaining]).toEqual([1, 0])
    expect(limiter.take('a').allowed).toBe(false)
  })

  test('returns the whole seconds to the end of the window, from 1 to its length', () => {
    for (const [now, reset] of [
      [0, 60],
      [0.001, 60],
      [59, 1],
      [59.999, 1],
      [60, 60],
    ] as const) {
      expect([now, new LocalLimiter(1, 60, () => at(now)).take('a').resetSeconds]).toEqual([now, reset])
    }
  })

  test('counts 100,000 callers separately and all others together, so that its memory is limited', () => {
    const limiter = new LocalLimiter(2, 60, () => at(0))
    for (let i = 0; i < 100_000; i++) limiter.take(`caller ${i}`)
    expect([limiter.take('caller 5').allowed, limiter.take('caller 5').allowed]).toEqual([true, false])
    expect(['x', 'y', 'z'].map((caller) => limiter.take(caller).allowed)).toEqual([true, true, false])
    expect(limiter.take('caller 6').allowed).toBe(true)
  })
})

describe('limits', () => {
  test('limiters with one name are one limiter, whose quota and window cannot change', () => {
    const limits = new LocalLimits()
    limits.limiter('compte', 1, 60).take('a')
    expect(limits.limiter('compte', 1, 60).take('a').allowed).toBe(false)
    expect(limits.limiter('adresse', 1, 60).take('a').allowed).toBe(true)
    expect(() => limits.limiter('compte', 2, 60)).toThrow('the limiter compte counts 1 in 60 s')
    expect(() => limits.limiter('compte', 1, 61)).toThrow('the limiter compte counts 1 in 60 s')
  })
})

describe('an address', () => {
  const group = fc.integer({ min: 0, max: 0xffff })

  test('the key of an IPv4 address is itself, also as IPv4-mapped IPv6', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect([addressKey(address), addressKey(`::ffff:${address}`)]).toEqual([address, address])
      }),
    )
  })

  test('the key of an IPv6 address is its /64, in any notation', () => {
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), fc.array(group, { minLength: 4 }), (one, rest) => {
        const text = (groups: number[]) => groups.map((each) => each.toString(16)).join(':')
        const [network, other] = [one.slice(0, 4), [...one.slice(0, 3), (one[3] as number) ^ 1]]
        const neighbour = [...network, ...rest.slice(0, 4)]
        expect(addressKey(text(neighbour))).toBe(addressKey(text(one)))
        expect(addressKey(text(one).toUpperCase())).toBe(addressKey(text(one)))
        expect(addressKey(new URL(`http://[${text(one)}]`).hostname.slice(1, -1))).toBe(addressKey(text(one)))
        expect(addressKey(text([...other, ...one.slice(4)]))).not.toBe(addressKey(text(one)))
      }),
    )
  })

  test('may have a zone, or start or end with zeros', () => {
    expect(addressKey('fe80::1%eth0')).toBe(addressKey('fe80::2'))
    expect(addressKey('::1')).toBe(addressKey('0:0:0:0:0:0:0:2'))
    expect(addressKey('2001:db8::')).toBe(addressKey('2001:0db8:0000:0000::1'))
  })
})
