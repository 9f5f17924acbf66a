import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { engines, exportKey, importInto, startServer, type TestServer, waitForChanges } from './harness.js'
import { readsDuring } from './reads.js'
import { petitPortail, problemOf, unlessShed } from './wire.js'

const NOW = Date.UTC(2026, 0, 31, 12, 0, 18)
const times = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))

describe.each(engines)('a conditional request on %s', (engine) => {
  let server: TestServer
  let minutes = 0
  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    server = await startServer(petitPortail, { engine, settings: { rateLimit: 20, addressRateLimit: 5 } })
  })
  // Each test has its own minute, so a fresh budget.
  beforeEach(() => {
    vi.setSystemTime(NOW + 60_000 * ++minutes)
  })
  afterAll(async () => {
    vi.useRealTimers()
    await server.close()
  })

  const ask = (path: string, condition?: string, init: RequestInit = {}, from = server) =>
    unlessShed(() =>
      from.get(path, { ...init, headers: { ...init.headers, ...(condition && { 'if-none-match': condition }) } }),
    )
  const tagOf = async (path: string, init?: RequestInit, from?: TestServer) =>
    (await ask(path, undefined, init, from)).headers.get('etag') as string
  const seen = async (answer: Promise<Response>) => {
    const { status, headers } = await answer
    return [status, Number(/r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1])]
  }

  /** Addresses that differ while the body stays the same. */
  const FAMILIES: [what: string, path: (i: number) => string][] = [
    ['a page', (i) => `/auteurs?debut_auteurs=${1_000 + i}`],
    ['another list', (i) => `/rubriques?essai=${i}`],
    ['a page of the dialect', (i) => `/rootme/auteurs?debut_auteurs=${1_000 + i}`],
  ]

  describe.each(FAMILIES)('for %s outside the cache', (_, path) => {
    test.each(['the tag of its body', '*'])('costs one request, with %s', async (by) => {
      const isStar = by === '*'
      const condition = isStar ? by : await tagOf(path(0))
      const left = isStar ? 20 : 19
      const statuses: number[] = []
      const { reads } = await readsDuring(server, async () => {
        for (let i = 1; i <= 60; i++) statuses.push((await ask(path(isStar ? 100 + i : i), condition)).status)
      })
      expect(statuses).toEqual([...times(left, () => 304), ...times(60 - left, () => 429)])
      expect(reads).toBeLessThanOrEqual(left)
    })
  })

  test('costs one request if the response must be read, and nothing once it is cached, as its headers say', async () => {
    const tag = await tagOf('/challenges?debut_challenges=1')
    expect(await seen(ask('/challenges?debut_challenges=2', tag))).toEqual([304, 18])
    for (let i = 0; i < 3; i++) expect(await seen(ask('/challenges?debut_challenges=2', tag))).toEqual([304, 18])
    expect(await seen(ask('/challenges?debut_challenges=2', `"a", W/${tag}`))).toEqual([304, 18])
    expect(await seen(ask('/challenges?debut_challenges=2', tag, { method: 'HEAD' }))).toEqual([304, 18])
    expect(await seen(ask('/challenges?debut_challenges=2'))).toEqual([200, 17])
  })

  test('costs one request for *, cached or not, unless it also names the tag', async () => {
    const tag = await tagOf('/challenges')
    expect(await seen(ask('/challenges', '*'))).toEqual([304, 18])
    expect(await seen(ask('/challenges', '"a", *'))).toEqual([304, 17])
    expect(await seen(ask('/challenges', `*, ${tag}`))).toEqual([304, 17])
    expect(await seen(ask('/challenges', '*', { method: 'HEAD' }))).toEqual([304, 16])
  })

  test('costs one request when there is no cache', async () => {
    const own = await startServer(petitPortail, { engine, settings: { rateLimit: 20, cacheMegabytes: 0 } })
    const tag = await tagOf('/challenges', {}, own)
    expect(await seen(ask('/challenges', tag, {}, own))).toEqual([304, 18])
    expect(await seen(ask('/challenges', tag, {}, own))).toEqual([304, 17])
    await own.close()
  })

  test('a streamed response is charged the same way, separately for each encoding', async () => {
    const authorization = `Bearer ${await exportKey(server)}`
    for (const path of ['/export', '/ctftime']) {
      for (const encoding of ['identity', 'gzip']) {
        const by = { headers: { cookie: '', authorization, 'accept-encoding': encoding } }
        const [, before] = await seen(ask(path, '*', by))
        const tag = await tagOf(path, by)
        expect(await seen(ask(path, tag, by))).toEqual([304, before! - 1])
        expect(await seen(ask(path, '*', by))).toEqual([304, before! - 2])
      }
    }
  })

  test('the description of the API is free with its tag, and costs its address a request with *', async () => {
    const first = await unlessShed(() => server.anonymous('/openapi.json'))
    const by = (condition: string) =>
      unlessShed(() => server.anonymous('/openapi.json', { headers: { 'if-none-match': condition } }))
    const tag = first.headers.get('etag') as string
    for (let i = 0; i < 6; i++) expect(await seen(by(tag))).toEqual([304, 4])
    expect((await Promise.all(times(6, () => by('*')))).map(({ status }) => status).sort()).toEqual([
      ...times(4, () => 304),
      ...times(2, () => 429),
    ])
    await problemOf(await by(tag), 'address_limited')
  })

  test('costs one request each when several wait for a response that one of them reads', async () => {
    const identity = { headers: { 'accept-encoding': 'identity' } }
    const tag = await tagOf('/ctftime', identity)
    let waited = 0
    // Tried again if none of them waited.
    for (let round = 1; waited < 2; round++) {
      vi.setSystemTime(NOW + 60_000 * ++minutes)
      // Any import empties the cache, though this body stays the same.
      await importInto(server.store, [{ type: 'environnement_virtuel', id_environnement_virtuel: round, nom: 'Un' }])
      await waitForChanges(server)
      const before = await misses()
      const answers = await Promise.all(times(5, () => seen(ask('/ctftime', tag, identity))))
      waited = (await misses()) - before
      expect(answers.map(([status]) => status)).toEqual(times(5, () => 304))
      expect(Math.min(...answers.map(([, left]) => left!))).toBe(20 - waited)
    }
    expect(await seen(ask('/ctftime', tag, identity))).toEqual([304, 20 - waited])
  })

  /** Requests whose response was not cached. */
  const misses = async () => {
    const { values } = await server.metrics.registry.getSingleMetric('palmares_response_cache_total')!.get()
    return values.find(({ labels }) => labels.result === 'miss')?.value ?? 0
  }
})
