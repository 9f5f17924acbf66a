import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { portail } from '../../test/fixtures.js'
import { addKey, addRubrique, startServer, type TestServer } from '../../test/harness.js'
import { type Cache, type CacheEntry, type Fetch, MemoryCache, Palmares } from '../src/index.js'
import { json, startLocal } from './servers.js'

let server: TestServer

beforeAll(async () => {
  server = await startServer(portail)
})

afterAll(() => server.close())

/** A client that records the status of each response on the wire. */
function watch(cache: Cache, apiKey: string | undefined = server.key) {
  const statuses: number[] = []
  const fetch: Fetch = async (url, init) => {
    const response = await globalThis.fetch(url, init)
    statuses.push(response.status)
    return response
  }
  return { statuses, client: new Palmares({ baseUrl: server.url, apiKey, cache, fetch }) }
}

describe('a client with a cache', () => {
  test('revalidates with the ETag and returns the same page for a 304, links and total included', async () => {
    const { client, statuses } = watch(new MemoryCache())
    const first = await client.page('/classement', { query: { limite: 3 } })
    expect(await client.page('/classement', { query: { limite: 3 } })).toEqual(first)
    expect(first).toMatchObject({ total: 11, next: expect.any(String) })
    expect(statuses).toEqual([200, 304])
  })

  test('returns a separate copy of the body to each caller', async () => {
    const { client } = watch(new MemoryCache())
    const [mine] = await client.get('/rubriques')
    mine!.nom = 'changed'
    expect((await client.get('/rubriques'))[0]!.nom).not.toBe('changed')
  })

  test('returns the new data as soon as it changes', async () => {
    const { client, statuses } = watch(new MemoryCache())
    const before = await client.get('/rubriques')
    await addRubrique(server.store, 'Neuve')
    expect((await client.get('/rubriques')).length).toBe(before.length + 1)
    expect(statuses).toEqual([200, 200])
  })

  test('raw uses the cache too, unless the caller sends its own If-None-Match', async () => {
    const { client, statuses } = watch(new MemoryCache())
    const { response } = await client.raw.GET('/rubriques')
    const again = await client.raw.GET('/rubriques')
    expect([again.response.status, again.data?.length]).toEqual([200, (await client.get('/rubriques')).length])
    const headers = { 'if-none-match': response.headers.get('etag') }
    expect((await client.raw.GET('/rubriques', { headers })).response.status).toBe(304)
    expect(statuses).toEqual([200, 304, 304, 304])
  })

  test('stores links and total beside the body, because a 304 need not repeat them', async () => {
    const headers = { etag: '"a"', link: '</classement?debut_classement=1>; rel="next"', 'x-total-count': '2' }
    const local = await startLocal((_, response, count) =>
      count === 1 ? json(response, [{}], headers) : response.writeHead(304, { etag: '"a"' }).end(),
    )
    const client = local.client({ cache: new MemoryCache() })
    const first = await client.page('/classement')
    expect(await client.page('/classement')).toEqual(first)
    expect(first).toMatchObject({ total: 2, next: expect.any(String) })
    await local.close()
  })

  test('stores no response with no-store, even if it has an ETag', async () => {
    const cache = new MemoryCache()
    const local = await startLocal((_, response) =>
      json(response, [], { etag: '"a"', 'cache-control': 'private, no-store' }),
    )
    await local.client({ cache }).get('/rubriques')
    expect(cache.size).toBe(0)
    await local.close()
  })

  test('stores neither a no-store response nor an error', async () => {
    const cache = new MemoryCache()
    const { client } = watch(cache)
    await client.get('/compte')
    await expect(client.get('/challenges/{id_challenge}', { path: { id_challenge: 999 } })).rejects.toThrow()
    expect(cache.size).toBe(0)
  })

  test('can be shared by clients, and never returns the response of another key, session or server', async () => {
    const keys: string[] = []
    const stored = new Map<string, CacheEntry>()
    const cache: Cache = {
      get: (key) => stored.get(key),
      set: (key, entry) => {
        keys.push(key)
        stored.set(key, entry)
      },
    }
    const otherKey = await addKey(server.store, 'alice')
    const elsewhere = await startServer(portail)
    const open = await startLocal((_, response) => json(response, [], { etag: '"a"' }))
    for (const client of [
      watch(cache).client,
      watch(cache, otherKey).client,
      new Palmares({ baseUrl: elsewhere.url, apiKey: elsewhere.key, cache }),
      new Palmares({ baseUrl: open.url, cache }),
      new Palmares({ baseUrl: open.url, cache }),
    ]) {
      await client.get('/rubriques')
    }
    expect(new Set(keys).size).toBe(5)
    expect(keys.join()).not.toContain(server.key.slice(5, 20))
    const { client, statuses } = watch(cache)
    await client.get('/rubriques')
    expect(statuses).toEqual([304])
    await open.close()
    await elsewhere.close()
  })

  test('drops the cached responses of a session on sign-in and sign-out', async () => {
    const local = await startLocal((request, response) =>
      json(response, {}, request.method === 'GET' ? { etag: '"a"' } : {}),
    )
    const client = new Palmares({ baseUrl: local.url, cache: new MemoryCache() })
    for (let round = 0; round < 2; round++) await client.get('/rubriques')
    await client.post('/login', { body: { login: 'a', password: 'b' } })
    await client.get('/rubriques')
    const tags = local.requests.filter(({ method }) => method === 'GET').map(({ headers }) => headers['if-none-match'])
    expect(tags).toEqual([undefined, '"a"', undefined])
    await local.close()
  })

  test('still works when the cache fails', async () => {
    const fail = () => {
      throw new Error('full')
    }
    const { client, statuses } = watch({ get: async () => fail(), set: fail })
    await client.get('/rubriques')
    await client.get('/rubriques')
    expect(statuses).toEqual([200, 200])
  })
})

describe('a MemoryCache', () => {
  const entry = (body: string): CacheEntry => ({ etag: '', body, headers: {} })

  test('keeps at most maxEntries entries and evicts the least recently used one', () => {
    const cache = new MemoryCache({ maxEntries: 2 })
    cache.set('a', entry('1'))
    cache.set('b', entry('2'))
    cache.get('a')
    cache.set('c', entry('3'))
    expect(['a', 'b', 'c'].map((key) => cache.get(key)?.body)).toEqual(['1', undefined, '3'])
  })

  test('keeps at most maxBytes bytes, updated when an entry is replaced or evicted', () => {
    const cache = new MemoryCache({ maxBytes: 100 })
    for (let round = 0; round < 50; round++) cache.set(`k${round % 7}`, entry('x'.repeat(round)))
    expect(cache.bytes).toBeLessThanOrEqual(100)
    expect(cache.size).toBe(1)
    // An entry that is too large is not stored, and the one it would have replaced is removed.
    cache.set('k0', entry('y'.repeat(101)))
    expect([cache.size, cache.bytes]).toEqual([0, 0])
  })
})
