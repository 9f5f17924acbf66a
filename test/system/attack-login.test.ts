import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ACCOUNT, addAccount, engines, serveStore, startServer, type TestServer } from '../harness.js'
import { BOB, petitPortail, postLogin, problemOf, unlessShed } from '../wire.js'

const OWNERS = Array.from({ length: 8 }, (_, i) => ({
  login: `owner ${i}`,
  password: `the password of ${i}`,
  idAuteur: 1 + (i % 2),
}))
const HOME = '198.51.100.7'
const { login, password } = ACCOUNT
const RIGHT = { login, password }
const WRONG = { login, password: 'not the password' }

/** Distinct addresses, none of them known for an account. */
const stranger = (i: number) => `203.0.${i >> 8}.${i & 255}`
const home = (i: number) => `198.51.100.${i + 10}`

describe.each(engines)('on %s, under a flood of logins', (engine) => {
  let server: TestServer
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 31, 12, 0, 18) })
  })
  afterEach(async () => {
    vi.useRealTimers()
    await server.close()
  })

  /** Long waits, because the tests share the machine. */
  const start = async (settings = {}) => {
    const patient = { trustProxy: 'loopback', loginWaitSeconds: 60 }
    server = await startServer(petitPortail, { engine, settings: { ...patient, ...settings } })
  }
  const attempt = async (
    { login, password }: { login: string; password: string },
    address: string,
    at: { url: string } = server,
  ): Promise<Response> => {
    const anonymous = (path: string, init: RequestInit = {}) => fetch(at.url + path, init)
    return unlessShed(() => postLogin({ anonymous }, { login, password }, { 'x-forwarded-for': address }))
  }
  const statuses = async (answers: Promise<Response>[]) => {
    const all = (await Promise.all(answers)).map(({ status }) => status)
    return Object.fromEntries(
      [...new Set(all)].sort().map((status) => [status, all.filter((it) => it === status).length]),
    )
  }

  test('every owner signs in from a known address during 200 logins from as many addresses, also after a restart', async () => {
    await start()
    for (const owner of OWNERS) await addAccount(server.store, owner)
    expect(await statuses(OWNERS.map((owner, i) => attempt(owner, home(i))))).toEqual({ 200: 8 })
    // A new process knows only the store, and has a short queue.
    const settings = { trustProxy: 'loopback', loginWaitSeconds: 60, loginQueue: 20 }
    const restarted = await serveStore(server.store, { settings })
    const flood = Array.from({ length: 200 }, (_, i) =>
      attempt({ ...OWNERS[i % 8]!, password: 'guess' }, stranger(i), restarted),
    )
    const owners = OWNERS.map((owner, i) => attempt(owner, home(i), restarted))
    expect(await statuses(owners)).toEqual({ 200: 8 })
    const refused = await statuses(flood)
    expect(refused[503]).toBeGreaterThan(0)
    expect((refused[503] ?? 0) + (refused[401] ?? 0)).toBe(200)
    await restarted.app.close()
  })

  test('failures for a login from all unknown addresses are limited, and its known ones are neither counted nor refused', async () => {
    await start({ loginTotalRateLimit: 20 })
    await addAccount(server.store, BOB)
    const [HOME_V6, SAME_64] = ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9']
    for (const address of [HOME, HOME_V6]) expect((await attempt(RIGHT, address)).status).toBe(200)
    expect(await statuses(Array.from({ length: 60 }, (_, i) => attempt(WRONG, stranger(i))))).toEqual({
      401: 20,
      429: 40,
    })
    const refused = await attempt(RIGHT, stranger(100))
    expect(refused.headers.get('retry-after')).toBe('42')
    await problemOf(refused, 'login_throttled')
    for (const address of [HOME, SAME_64]) expect((await attempt(RIGHT, address)).status).toBe(200)
    expect([(await attempt(WRONG, HOME)).status, (await attempt(RIGHT, HOME)).status]).toEqual([401, 200])
    // A known address is known for one login only, and an unknown login is limited in the same way.
    expect([(await attempt(BOB, HOME)).status, (await attempt(BOB, stranger(101))).status]).toEqual([200, 200])
    const nobody = { login: 'nobody', password: 'a guess' }
    expect(await statuses(Array.from({ length: 30 }, (_, i) => attempt(nobody, stranger(i))))).toEqual({
      401: 20,
      429: 10,
    })
    vi.setSystemTime(Date.UTC(2026, 0, 31, 12, 1, 0))
    expect((await attempt(RIGHT, stranger(100))).status).toBe(200)
  })

  test('successes from unknown addresses are not counted', async () => {
    await start({ loginTotalRateLimit: 5 })
    for (let i = 0; i < 8; i++) expect((await attempt(RIGHT, stranger(i))).status).toBe(200)
  })

  test('an address with many logins delays no other, because addresses take turns', async () => {
    await start({ loginRateLimit: 1_000, loginAddressRateLimit: 1_000, loginTotalRateLimit: 1_000 })
    const ended: string[] = []
    const many = Array.from({ length: 60 }, () => attempt(WRONG, stranger(1)).then(() => ended.push('many')))
    const one = attempt(WRONG, stranger(2)).then(() => ended.push('one'))
    await Promise.all([...many, one])
    expect(ended.indexOf('one')).toBeLessThan(50)
  })

  test('a full queue refuses the longest line, with Retry-After, and accepts an address without a line', async () => {
    await start({ loginQueue: 10, loginRateLimit: 1_000, loginAddressRateLimit: 1_000, loginTotalRateLimit: 1_000 })
    const many = Array.from({ length: 80 }, () => attempt(WRONG, stranger(1)))
    const others = Array.from({ length: 5 }, (_, i) => attempt(RIGHT, stranger(2 + i)))
    expect(await statuses(others)).toEqual({ 200: 5 })
    const answers = await Promise.all(many)
    const refused = answers.filter(({ status }) => status === 503)
    expect(refused.length).toBeGreaterThan(20)
    await problemOf(refused[0]!, 'overloaded')
  })

  test('20 addresses are stored for an account, as hashes, for 90 days', async () => {
    await start({ loginTotalRateLimit: 1 })
    const remembered = () =>
      server.store.read((db) =>
        db.select<{ adresse: string; vue: number }>('select adresse, vue from adresses_connues'),
      )
    for (let i = 0; i < 25; i++) {
      vi.setSystemTime(Date.UTC(2026, 0, 31, 13, i))
      expect((await attempt(RIGHT, stranger(i))).status).toBe(200)
    }
    const rows = await remembered()
    expect(rows).toHaveLength(20)
    for (const { adresse } of rows) expect(adresse).toMatch(/^[0-9a-f]{64}$/)
    expect((await attempt(WRONG, stranger(1))).status).toBe(401)
    // The oldest are unknown again, and the one failure of unknown addresses has been used.
    const known = [stranger(24), stranger(5)]
    for (const address of known) expect((await attempt(RIGHT, address)).status).toBe(200)
    for (const address of [stranger(0), stranger(4)]) expect((await attempt(RIGHT, address)).status).toBe(429)
    vi.setSystemTime(Date.UTC(2026, 4, 5))
    expect((await attempt(RIGHT, HOME)).status).toBe(200)
    expect(await remembered()).toHaveLength(1)
  })
})
