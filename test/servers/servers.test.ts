import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createDatabase,
  dropDatabase,
  findBinaries,
  type PostgresServer,
  runSql,
  startPrimary,
  startReplica,
} from './postgres.js'
import { startProxy, type TestProxy } from './proxy.js'
import { findRedis, type RedisServer, startRedis } from './redis.js'

describe.skipIf(!findBinaries())('a PostgreSQL server for tests', () => {
  let primary: PostgresServer
  beforeAll(async () => {
    primary = await startPrimary({ icuLocale: 'fr' })
  })
  afterAll(() => primary?.destroy())

  test('has the locale it was started with', async () => {
    const sorted = await primary.sql(`select v from (values ('zoo'), ('École'), ('eau')) as t(v) order by v`)
    expect(sorted).toEqual([{ v: 'eau' }, { v: 'École' }, { v: 'zoo' }])
  })

  test('keeps its port and its data over a stop and a crash', async () => {
    await primary.sql('create table garde (id int); insert into garde values (1)')
    for (const mode of ['fast', 'immediate'] as const) {
      // Without synchronous_commit, what was just written would be lost in a crash.
      await primary.sql('checkpoint')
      await primary.stop(mode)
      await expect(primary.sql('select 1')).rejects.toThrow('ECONNREFUSED')
      await primary.start()
      expect(await primary.sql('select id from garde')).toEqual([{ id: 1 }])
    }
  })

  test('creates databases from a template, and drops them with their sessions', async () => {
    const template = await createDatabase(primary)
    await runSql(template, 'create table t (id int)')
    const copy = await createDatabase(primary.url(), new URL(template).pathname.slice(1))
    expect(await runSql(copy, 'select * from t')).toEqual([])
    const used = runSql(copy, 'select pg_sleep(600)').catch((error) => error.message)
    const sleeping = "select 1 from pg_stat_activity where query = 'select pg_sleep(600)'"
    await expect.poll(() => primary.sql(sleeping)).toHaveLength(1)
    await dropDatabase(copy)
    expect(await used).toMatch(/terminat/)
    await dropDatabase(template)
    expect(await primary.sql(`select datname from pg_database where datname like 'palmares%'`)).toEqual([])
  })

  test('answers nothing while it is paused', async () => {
    primary.pause()
    const answer = primary.sql('select 1 as un')
    expect(await within(300, answer)).toBe('late')
    primary.resume()
    expect(await answer).toEqual([{ un: 1 }])
  })

  test('has replicas, which stream its changes and refuse writes', async () => {
    const replica = await startReplica(primary)
    try {
      await primary.sql('create table lignes (id int); insert into lignes values (7)')
      await expect.poll(() => replica.sql('select id from lignes').catch(() => [])).toEqual([{ id: 7 }])
      await expect(replica.sql('delete from lignes')).rejects.toThrow('read-only transaction')
      await replica.stop('immediate')
      await primary.sql('insert into lignes values (8)')
      await replica.start()
      await expect.poll(() => replica.sql('select id from lignes')).toEqual([{ id: 7 }, { id: 8 }])
    } finally {
      await replica.destroy()
    }
  })
})

describe.skipIf(!findRedis())('a Redis server for tests and a proxy in front of it', () => {
  let redis: RedisServer
  let proxy: TestProxy
  beforeAll(async () => {
    redis = (await startRedis())!
    proxy = await startProxy(redis.port)
  })
  afterAll(async () => {
    proxy?.close()
    await redis?.destroy()
  })

  const echo = async (text: string, port = proxy.port) => {
    const socket = connect(port, '127.0.0.1')
    try {
      // A connection that ends without a response counts as an empty one.
      const ended = once(socket, 'end').then(() => [''])
      ended.catch(() => undefined)
      socket.write(`ECHO ${text}\r\n`)
      const [answer] = await Promise.race([once(socket, 'data'), ended])
      return String(answer).split('\r\n')[1]
    } finally {
      socket.destroy()
    }
  }

  test('Redis stops, starts on the same port, and pauses', async () => {
    await redis.stop()
    await expect(echo('a', redis.port)).rejects.toThrow('ECONNREFUSED')
    expect(await echo('a')).toBeUndefined()
    await redis.start()
    redis.pause()
    const answer = echo('b')
    expect(await within(200, answer)).toBe('late')
    redis.resume()
    expect(await answer).toBe('b')
  })

  test('the proxy delays both directions', async () => {
    proxy.delay(100)
    const start = performance.now()
    expect(await echo('lent')).toBe('lent')
    expect(performance.now() - start).toBeGreaterThan(190)
    proxy.delay(0)
  })

  test('the proxy resets connections, refuses new ones until it is restored, and counts them', async () => {
    await expect.poll(() => proxy.connections()).toBe(0)
    const socket = connect(proxy.port, '127.0.0.1')
    await expect.poll(() => proxy.connections()).toBe(1)
    const broken = once(socket, 'error')
    proxy.cut()
    expect(await broken).toMatchObject([{ code: 'ECONNRESET' }])
    await expect(echo('a')).rejects.toThrow('ECONNREFUSED')
    expect(proxy.connections()).toBe(0)
    await proxy.restore()
    expect(await echo('b')).toBe('b')
  })

  test('the proxy holds back everything in a black hole', async () => {
    proxy.blackhole(true)
    const answer = echo('a')
    expect(await within(200, answer)).toBe('late')
    proxy.blackhole(false)
    expect(await answer).toBe('a')
  })

  test('the proxy replaces text of the same length', async () => {
    proxy.replace('blanc', 'rouge')
    expect(await echo('blanc-blanc')).toBe('rouge-rouge')
    expect(() => proxy.replace('a', 'bb')).toThrow('length')
  })
})

function within<T>(milliseconds: number, answer: Promise<T>): Promise<T | 'late'> {
  return Promise.race([answer, sleep(milliseconds, 'late' as const)])
}
