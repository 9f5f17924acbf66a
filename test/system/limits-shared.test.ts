import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer as createPlainServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer } from 'node:tls'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { redisUrl, SecretArgumentError } from '../../src/forms.js'
import type { Limiter } from '../../src/limits/limits.js'
import { LocalLimiter, LocalLimits } from '../../src/limits/local.js'
import { openRedisLimits } from '../../src/limits/redis.js'
import type { ServeOptions } from '../../src/options.js'
import { ACCOUNT, makeFolder, startServer, type TestServer } from '../harness.js'
import { PATIENCE } from '../patience.js'
import { freePort } from '../servers/child.js'
import { startProxy } from '../servers/proxy.js'
import { findRedis, type RedisServer, startRedis } from '../servers/redis.js'
import { petitPortail, postLogin } from '../wire.js'

/** On a busy machine a server is not taken as unavailable, and an unavailable one is probed again soon. */
const PATIENT = { tickMilliseconds: 50, patienceTicks: 1_000, pauseMilliseconds: 50 }
/** For servers that hang on purpose. */
const IMPATIENT = { ...PATIENT, patienceTicks: 20 }

/** A window that never ends during a test. */
const CENTURY_SECONDS = 100 * 365 * 86_400
const OPENSSL = 'openssl'
const PASSWORD = 'a p@ss/word'

const NO_REDIS = 'SKIPPED, as neither redis-server nor valkey-server is in PATH: '
const hasRedis = findRedis() !== undefined
if (!hasRedis) process.stderr.write(`\n!! ${NO_REDIS}limits shared through Redis\n\n`)

describe.skipIf(!hasRedis)(`${hasRedis ? '' : NO_REDIS}limits shared through Redis`, () => {
  let redis: RedisServer
  let admin: Redis
  const opened: { close(): Promise<void> }[] = []

  beforeAll(async () => {
    redis = (await startRedis()) as RedisServer
    admin = new Redis(redis.port, redis.host)
    admin.on('error', () => undefined)
  })
  afterEach(async () => {
    redis.resume()
    await Promise.all(opened.splice(0).map((each) => each.close()))
    await admin.config('SET', 'maxmemory', '0')
    await admin.replicaof('NO', 'ONE')
    await admin.config('SET', 'requirepass', '')
    await admin.flushall()
  })
  afterAll(async () => {
    admin?.disconnect()
    await redis?.destroy()
  })

  /** Shared limits of one node, with its log. */
  const open = async (url = redis.url, times = PATIENT) => {
    const logged: string[] = []
    const log = { warn: (text: string) => logged.push(text), info: (text: string) => logged.push(text) }
    const fallback = new LocalLimits()
    const limits = await openRedisLimits(url, fallback, log as never, times)
    opened.push(limits)
    const limiter = (quota = 5, windowSeconds = CENTURY_SECONDS) => limits.limiter('compte', quota, windowSeconds)
    const inFallback = (quota = 5) => fallback.limiter('compte', quota, CENTURY_SECONDS)
    return { limits, limiter, inFallback, logged }
  }
  const name = () => `${redis.host}:${redis.port}`
  const unavailableFor = (reason: string) => `limits: ${name()} is unavailable (${reason}); each node counts separately`
  const back = () => `limits: ${name()} is back`
  const eventually = (check: () => void) => vi.waitFor(check, PATIENCE)
  const takes = async (count: number, ...limiters: Limiter[]) => {
    const budgets = Array.from({ length: count }, (_, i) => limiters[i % limiters.length]?.take('a'))
    return (await Promise.all(budgets)).filter((budget) => budget?.allowed).length
  }
  /** As long as several probes of an unavailable server. */
  const someProbes = () => sleep(6 * PATIENT.pauseMilliseconds)
  /** The server's clock cannot be faked, so a test that the end of a minute would break waits for the next one. */
  const minuteWithTimeLeft = async () => {
    const left = 60 - (Number((await admin.time())[0]) % 60)
    if (left <= 25) await sleep(left * 1000)
  }
  /** Callers' keys in the database, without the key of probes. */
  const keys = async (client = admin) => (await client.keys('*')).filter((key) => !key.endsWith(':sonde'))

  describe('counting', () => {
    test('nodes count like one process, whatever is taken and given back', async () => {
      const { limits } = await open()
      const step = fc.record({ caller: fc.constantFrom('a', 'b', ''), isTake: fc.boolean() })
      let run = 0
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 40 }), async (quota, steps) => {
          const shared = limits.limiter(`essai ${run++}`, quota, CENTURY_SECONDS)
          const model = new LocalLimiter(quota, CENTURY_SECONDS)
          for (const { caller, isTake } of steps) {
            if (!isTake) {
              shared.giveBack(caller)
              model.giveBack(caller)
              continue
            }
            const { resetSeconds, ...budget } = await shared.take(caller)
            const { resetSeconds: expected, ...modelled } = model.take(caller)
            expect(budget).toEqual(modelled)
            expect(Math.abs(resetSeconds - expected)).toBeLessThan(2)
          }
        }),
      )
    })

    test('two nodes share one budget exactly, also under concurrent requests', async () => {
      const [one, two] = [await open(), await open()]
      expect(await takes(200, one.limiter(50), two.limiter(50))).toBe(50)
      for (let i = 0; i < 7; i++) one.limiter(50).giveBack('a')
      await one.limiter(50).take('another, after what is given back')
      expect(await takes(100, two.limiter(50), one.limiter(50))).toBe(7)
      expect([...one.logged, ...two.logged]).toEqual([])
    })

    test("windows follow the server's clock, whatever the clocks of the nodes", async () => {
      const { limiter } = await open()
      const [seconds] = await admin.time()
      vi.useFakeTimers({ toFake: ['Date'], now: 0 })
      try {
        expect(await takes(3, limiter(2))).toBe(2)
        vi.setSystemTime(CENTURY_SECONDS * 1000)
        const { allowed, resetSeconds } = await limiter(2).take('a')
        expect(allowed).toBe(false)
        expect(Math.abs(CENTURY_SECONDS - Number(seconds) - resetSeconds)).toBeLessThan(5)
      } finally {
        vi.useRealTimers()
      }
    })

    test('a new window starts from zero', async () => {
      const { limiter } = await open()
      const one = limiter(1, 2)
      while (!(await one.take('a')).allowed) await sleep(50)
      const { resetSeconds } = await one.take('a')
      expect([1, 2]).toContain(resetSeconds)
      await sleep(resetSeconds * 1000 + 10)
      expect((await one.take('a')).allowed).toBe(true)
    })

    test('keys expire with their window and reveal neither login nor address', async () => {
      const { limits } = await open()
      const limiter = limits.limiter('echecs_login', 3, 60)
      await minuteWithTimeLeft()
      for (let i = 0; i < 5; i++) await limiter.take('203.0.113.1\0alice')
      const [key = '', ...others] = await keys()
      expect(others).toEqual([])
      expect(key).toMatch(/^palmares:limite:echecs_login:60:[\w-]{22}$/)
      expect(await admin.get(key)).toMatch(/^\d+:3$/)
      expect(await admin.ttl(key)).toBeGreaterThan(0)
      expect(await admin.ttl(key)).toBeLessThanOrEqual(61)
      limiter.giveBack('203.0.113.1\0alice')
      await limiter.take('another')
      expect(await admin.ttl(key)).toBeGreaterThan(0)
    })

    test('counts are in the database named by the address', async () => {
      const { limiter } = await open(`${redis.url}/3`)
      await limiter().take('a')
      const third = admin.duplicate({ db: 3 })
      expect([(await keys()).length, (await keys(third)).length]).toEqual([0, 1])
      third.disconnect()
    })

    test('counts survive SCRIPT FLUSH and ignore foreign values under a key', async () => {
      const [one, two] = [await open(), await open()]
      expect(await takes(6, one.limiter(20), two.limiter(20))).toBe(6)
      await admin.script('FLUSH')
      expect(await takes(6, one.limiter(20), two.limiter(20))).toBe(6)
      const [key = ''] = await keys()
      expect(await admin.get(key)).toMatch(/:12$/)
      await admin.multi().del(key).rpush(key, 'a list').exec()
      expect(await takes(40, one.limiter(20), two.limiter(20))).toBe(20)
      await admin.set(key, '-7')
      expect(await takes(40, one.limiter(20), two.limiter(20))).toBe(20)
      expect([...one.logged, ...two.logged]).toEqual([])
    })

    test('counts stay shared if the event loop is blocked for longer than the timeout of the server', async () => {
      const { limiter, logged } = await open(redis.url, IMPATIENT)
      const block = () => {
        for (const end = performance.now() + 1_400; performance.now() < end; );
      }
      const taken = takes(3, limiter(2))
      await sleep(0)
      block()
      expect([await taken, logged]).toEqual([2, []])
      const soon = takes(3, limiter(2))
      block()
      expect([await soon, logged]).toEqual([0, []])
    })
  })

  describe('the fallback to the counts of the node', () => {
    test('starts when the server is unavailable, is reported once, and ends when it is back', async () => {
      const { limiter, logged } = await open()
      expect(await takes(3, limiter())).toBe(3)
      await redis.stop()
      expect(await takes(9, limiter())).toBe(5)
      await someProbes()
      expect(await takes(9, limiter())).toBe(0)
      expect(logged).toEqual([unavailableFor('connection lost')])
      await redis.start()
      await eventually(() => expect(logged.slice(1)).toEqual([back()]))
      expect(await takes(9, limiter())).toBe(5)
      expect((await keys()).length).toBe(1)
    })

    test('starts if the server is unavailable at the start, and ends once it is there', async () => {
      await redis.stop()
      const { limiter, logged } = await open()
      expect([await takes(9, limiter()), logged]).toEqual([5, [unavailableFor('ECONNREFUSED')]])
      await redis.start()
      await eventually(() => expect(logged.slice(1)).toEqual([back()]))
      expect([await takes(9, limiter()), logged.length]).toEqual([5, 2])
    })

    test('lasts while the network drops everything', async () => {
      const proxy = await startProxy(redis.port)
      proxy.blackhole(true)
      const { limiter, logged } = await open(`redis://127.0.0.1:${proxy.port}`, IMPATIENT)
      expect([await takes(9, limiter()), logged.length]).toEqual([5, 1])
      for (const count of [2, 4]) {
        await someProbes()
        proxy.blackhole(false)
        await eventually(() => expect(logged.length).toBe(count))
        expect((await limiter().take(`caller ${count}`)).remaining).toBe(4)
        proxy.blackhole(true)
        await limiter().take('a')
        expect(logged.length).toBe(count + 1)
      }
      proxy.close()
    })

    test('lets the first requests wait briefly for a server that hangs, and later ones not at all', async () => {
      const { limiter, logged } = await open(redis.url, IMPATIENT)
      await limiter().take('a')
      redis.pause()
      expect(await takes(9, limiter())).toBe(5)
      for (let i = 0; i < 30; i++) {
        // This is a budget, not a promise.
        expect(limiter().take(`caller ${i}`)).toMatchObject({ allowed: true })
        await sleep(10)
      }
      expect(logged).toEqual([unavailableFor('no answer within 1000 ms')])
      redis.resume()
      await eventually(() => expect(logged.slice(1)).toEqual([back()]))
      expect((await limiter().take('fresh')).remaining).toBe(4)
      expect(logged.length).toBe(2)
    })

    test('answers each of many requests when the connection breaks', async () => {
      const proxy = await startProxy(redis.port)
      const { limiter, logged } = await open(`redis://127.0.0.1:${proxy.port}`)
      proxy.blackhole(true)
      const taken = takes(300, limiter())
      await sleep(10)
      proxy.cut()
      expect([await taken, logged.length]).toEqual([5, 1])
      proxy.blackhole(false)
      await proxy.restore()
      await eventually(() => expect(logged.length).toBe(2))
      await limiter().take('fresh')
      expect((await keys()).length).toBeGreaterThan(0)
      proxy.close()
    })

    for (const [what, reason, injectFault] of [
      ['has become a replica', 'READONLY', () => admin.replicaof('127.0.0.1', 1)],
      ['is full', 'OOM', () => admin.config('SET', 'maxmemory', '1')],
    ] as const) {
      test(`lasts while the server ${what}`, async () => {
        const { limiter, logged } = await open()
        await injectFault()
        expect(await takes(9, limiter())).toBe(5)
        await someProbes()
        expect([await takes(9, limiter()), logged]).toEqual([0, [unavailableFor(reason)]])
        await admin.config('SET', 'maxmemory', '0')
        await admin.replicaof('NO', 'ONE')
        await eventually(() => expect(logged.slice(1)).toEqual([back()]))
        expect(await takes(9, limiter())).toBe(5)
      })
    }

    test('applies if the server has no such database, and no other is used', async () => {
      const { limiter, logged } = await open(`${redis.url}/99`)
      expect(await takes(9, limiter())).toBe(5)
      await someProbes()
      expect([await takes(9, limiter()), await keys()]).toEqual([0, []])
      expect(logged).toEqual([unavailableFor('it has no such database for us')])
    })

    test('has no negative counts when takes and returns fall on different sides', async () => {
      const { limiter, inFallback, logged } = await open()
      expect(await takes(2, limiter())).toBe(2)
      await redis.stop()
      await eventually(() => expect(logged.length).toBe(1))
      for (let i = 0; i < 4; i++) limiter().giveBack('a')
      expect(await takes(3, limiter())).toBe(3)
      await redis.start()
      await eventually(() => expect(logged.length).toBe(2))
      for (let i = 0; i < 4; i++) limiter().giveBack('a')
      expect((await limiter().take('a')).remaining).toBe(4)
      expect(inFallback().take('a')).toMatchObject({ remaining: 1 })
    })
  })

  describe('passwords', () => {
    const withPassword = (password: string, user = '') =>
      redis.url.replace('//', `//${user}:${encodeURIComponent(password)}@`)

    test('the right password is accepted, for the default user and for another one', async () => {
      await admin.config('SET', 'requirepass', PASSWORD)
      await admin.call('ACL', 'SETUSER', 'palmarès', 'on', `>${PASSWORD}`, '~palmares:*', '-@all', '+eval', '+evalsha')
      await admin.call('ACL', 'SETUSER', 'palmarès', '+time', '+get', '+set')
      const [one, two] = [await open(withPassword(PASSWORD)), await open(withPassword(PASSWORD, 'palmar%C3%A8s'))]
      expect(await takes(40, one.limiter(20), two.limiter(20))).toBe(20)
      expect([...one.logged, ...two.logged]).toEqual([])
    })

    for (const [what, reason, password] of [
      ['is wrong', 'WRONGPASS', 'a wrong p@ssword'],
      ['is missing', 'NOAUTH', undefined],
    ] as const) {
      test(`a password that ${what} causes the fallback, which is reported without the password`, async () => {
        const console = vi.spyOn(globalThis.console, 'error')
        await admin.config('SET', 'requirepass', PASSWORD)
        const { limiter, logged } = await open(password ? withPassword(password) : redis.url)
        expect(await takes(9, limiter())).toBe(5)
        await someProbes()
        expect(logged).toEqual([unavailableFor(reason)])
        await admin.config('SET', 'requirepass', '')
        await eventually(() => expect(logged.slice(1)).toEqual([back()]))
        expect(JSON.stringify([logged, console.mock.calls])).not.toMatch(/p@ss|p%40ss/)
        console.mockRestore()
      })
    }
  })

  test.skipIf(!hasOpenssl())('rediss uses TLS, and requires a trusted certificate', async () => {
    const tls = await startTls(redis)
    opened.push(tls)
    const refused = await open(tls.url, IMPATIENT)
    expect(await takes(9, refused.limiter())).toBe(5)
    expect(refused.logged).toEqual([expect.stringMatching(/unavailable \(DEPTH_ZERO_SELF_SIGNED_CERT\)/)])
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const [one, two] = [await open(tls.url), await open()]
    expect(await takes(40, one.limiter(20), two.limiter(20))).toBe(20)
    await eventually(() => expect(refused.logged.length).toBe(2))
    vi.unstubAllEnvs()
    const plain = await open(redis.url.replace('redis:', 'rediss:'), IMPATIENT)
    expect([await takes(9, plain.limiter()), plain.logged.length]).toEqual([5, 1])
  })

  test('an error text that contains the password is never logged', async () => {
    const parrot = createPlainServer((client) => {
      client.on('data', (data) => {
        const refusal = `-ERR unknown ${data.toString().replaceAll(/\s+/g, ' ')}\r\n`
        client.write(refusal.repeat(data.toString().match(/^\*/gm)?.length ?? 0))
      })
      client.on('error', () => undefined)
    }).listen(0, '127.0.0.1')
    await once(parrot, 'listening')
    const output = (['log', 'warn', 'error'] as const).map((method) => vi.spyOn(console, method))
    const { logged } = await open(`redis://user:secret@127.0.0.1:${(parrot.address() as AddressInfo).port}`)
    expect(logged).toEqual([expect.stringMatching(/unavailable \(ERR\)/)])
    expect(JSON.stringify(output.map(({ mock }) => mock.calls))).not.toMatch('secret')
    for (const spy of output) spy.mockRestore()
    parrot.close()
  })

  describe('close', () => {
    test('does not wait for the server, be it available, frozen or unavailable; later takes are answered', async () => {
      for (const injectFault of [() => undefined, () => redis.pause(), () => redis.stop()]) {
        const { limits, limiter, logged } = await open()
        await injectFault()
        const taken = takes(3, limiter())
        await limits.close()
        await taken
        expect([(await limiter().take('z')).allowed, logged.filter((text) => text.includes('back'))]).toEqual([
          true,
          [],
        ])
        limiter().giveBack('z')
        redis.resume()
      }
      await redis.start()
    })

    test('works before the server has been reached', async () => {
      const proxy = await startProxy(await freePort())
      proxy.blackhole(true)
      const { limits } = await open(`redis://127.0.0.1:${proxy.port}`)
      await limits.close()
      proxy.close()
    })
  })

  describe('two servers with shared limits', () => {
    /** Two servers with the same accounts. */
    const start = async (settings: Partial<ServeOptions>) => {
      const nodes: TestServer[] = []
      for (let i = 0; i < 2; i++) {
        const { limits } = await open()
        nodes.push(await startServer(petitPortail, { settings, limits }))
      }
      opened.push(...nodes)
      await minuteWithTimeLeft()
      return nodes as [TestServer, TestServer]
    }
    const statuses = async (count: number, ask: (i: number) => Promise<Response>) => {
      const responses = await Promise.all(Array.from({ length: count }, (_, i) => ask(i)))
      return responses.map(({ status }) => status).sort((a, b) => a - b)
    }
    const fill = (count: number, status: number) => Array<number>(count).fill(status)

    test('give each account and each address one budget, and refund a cached 304', async () => {
      const nodes = await start({ rateLimit: 30, addressRateLimit: 20 })
      const node = (i: number) => nodes[i % 2] as TestServer
      const path = '/challenges/1'
      // Each server has its own cache.
      const etag = (await node(0).get(path)).headers.get('etag') as string
      expect((await node(1).get(path)).headers.get('etag')).toBe(etag)
      for (let i = 0; i < 6; i++) {
        const response = await node(i).get(path, { headers: { 'if-none-match': etag } })
        expect([response.status, response.headers.get('ratelimit')]).toEqual([
          304,
          expect.stringMatching(/^"compte";r=28;/),
        ])
      }
      expect(await statuses(60, (i) => node(i).get(path))).toEqual([...fill(28, 200), ...fill(32, 429)])
      expect(await statuses(30, (i) => node(i).anonymous(path))).toEqual([...fill(20, 401), ...fill(10, 429)])
    })

    test('throttle password guesses across both, and never successful logins', async () => {
      const nodes = await start({})
      const node = (i: number) => nodes[i % 2] as TestServer
      expect(await statuses(24, () => postLogin(node(0)))).toEqual(fill(24, 200))
      const wrong = { login: ACCOUNT.login, password: 'not the password' }
      expect(await statuses(30, (i) => postLogin(node(i), wrong))).toEqual([...fill(10, 401), ...fill(20, 429)])
      expect((await postLogin(node(0))).status).toBe(429)
    })
  })
})

function hasOpenssl(): boolean {
  return spawnSync(OPENSSL, ['version']).status === 0
}

/** TLS before a Redis, with a self-signed certificate. */
async function startTls({ host, port }: RedisServer): Promise<{ url: string; close(): Promise<void> }> {
  const folder = makeFolder()
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-keyout', key, '-out', cert]
  execFileSync(OPENSSL, ['req', '-x509', '-nodes', '-subj', '/CN=localhost', ...made], { stdio: 'ignore' })
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (client) => {
    const plain = connect(port, host)
    client.on('error', () => plain.destroy()).on('close', () => plain.destroy())
    plain.on('error', () => client.destroy())
    plain.pipe(client).pipe(plain)
  })
  await once(server.listen(0, host), 'listening')
  const close = async () => {
    server.close()
    rmSync(folder, { recursive: true })
  }
  return { url: `rediss://${host}:${(server.address() as AddressInfo).port}`, close }
}

describe('the address of the server of limits', () => {
  test('is an address of Redis or Valkey, optionally with a user, a password, a port and a database', () => {
    for (const text of [
      'redis://limites',
      'redis://limites.example:6380/3',
      'rediss://user:p%40ss@limites.example',
      'redis://:secret@[::1]:6379/',
    ]) {
      expect(redisUrl(text)).toBe(text)
    }
  })

  test('is refused in any other form, and never repeated, because it may contain a password', () => {
    for (const text of [
      '',
      'secret',
      'http://:secret@limites',
      'redis://',
      'redis://:secret@/3',
      'redis:limites',
      'redis://:secret@limites:0',
      'redis://:secret@limites:65536',
      'redis://:secret@limites/name',
      'redis://:secret@limites/1/2',
      'redis://:secret%zz@limites',
      'redis://:secret@limites?db=3',
      'redis://:secret@limites#3',
    ]) {
      const refuse = () => redisUrl(text)
      expect(refuse).toThrow(SecretArgumentError)
      expect(refuse).not.toThrow(/secret/)
    }
  })
})
