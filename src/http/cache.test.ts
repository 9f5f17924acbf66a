import { expect, test } from 'vitest'
import { Reads } from '../store/reads.js'
import { ResponseCache } from './cache.js'

const MAX_BYTES = 100_000
const BODY = Buffer.alloc(1_000, 'a')

/** A cache at version 1 of data that never change; `ask` returns whether it was a hit. */
function makeCache() {
  const changes = { version: 1, reach: () => undefined, subscribe: () => () => undefined }
  const cache = new ResponseCache(changes, MAX_BYTES)
  const dependencies = new Reads().dependencies()
  const ask = async (key: string): Promise<boolean> => {
    if (cache.get(key, 1)) return true
    await cache.make(key, 1, async () => ({ ready: { body: BODY, etag: '"a"' }, dependencies, version: 1 }))
    return false
  }
  return { cache, ask }
}

const keys = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`)

test('while there is room, a response is cached at its first request', async () => {
  const { ask } = makeCache()
  expect(await ask('/a')).toBe(false)
  expect(await ask('/a')).toBe(true)
})

test('responses requested once evict none that are requested repeatedly, and are not cached', async () => {
  const { cache, ask } = makeCache()
  for (const key of keys('/popular/', 20)) await ask(key)
  for (const key of keys('/once/', 5_000)) await ask(key)
  for (const key of keys('/popular/', 20)) expect([key, cache.get(key, 1) !== undefined]).toEqual([key, true])
  const cached = keys('/once/', 5_000).filter((key) => cache.get(key, 1))
  expect(cached.length).toBeLessThan(MAX_BYTES / BODY.length)
})

test('when the cache is full, a response is cached at its second request and the least recently used one is evicted', async () => {
  const { cache, ask } = makeCache()
  for (const key of keys('/', 200)) for (let asked = 0; asked < 3; asked++) await ask(key)
  expect(cache.get('/199', 1)).toBeDefined()
  expect(cache.get('/0', 1)).toBeUndefined()
  const cached = keys('/', 200).filter((key) => cache.get(key, 1))
  expect(cached.length * BODY.length).toBeLessThanOrEqual(MAX_BYTES)
  expect(cached.length * BODY.length).toBeGreaterThan(MAX_BYTES / 2)
  expect(cached).toEqual(keys('/', 200).slice(-cached.length))
})
