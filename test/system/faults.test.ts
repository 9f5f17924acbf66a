import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { portail } from '../fixtures.js'
import { makeGate } from '../gate.js'
import { ACCOUNT, addKey } from '../harness.js'
import { type Answer, fill, type Node, startNode, until } from '../nodes.js'
import { createDatabase, findBinaries, type PostgresServer, runSql, startPrimary } from '../servers/postgres.js'
import { startProxy, type TestProxy } from '../servers/proxy.js'

/** How long the nodes of these tests wait for the store. */
const TIMEOUT_SECONDS = 1
/** A crash must keep committed data, unlike in other tests. */
const SETTINGS = { synchronous_commit: 'on' }

describe.skipIf(!findBinaries())('when PostgreSQL fails', () => {
  let primary: PostgresServer
  let proxy: TestProxy
  let database: string
  let throughProxy: string
  let node: Node
  let key: string
  const rejections: unknown[] = []
  const noteRejection = (reason: unknown) => rejections.push(reason)
  let count = 0

  /** A read that is not cached. */
  const read = () => node.get(`/classement?limite=5&x=${count++}`, key)
  const probe = async (name: 'live' | 'ready') => (await fetch(`${node.url}/health/${name}`)).status

  beforeAll(async () => {
    process.on('unhandledRejection', noteRejection)
    primary = await startPrimary({ settings: SETTINGS })
    database = await createDatabase(primary)
    proxy = await startProxy(primary.port)
    throughProxy = database.replace(`:${primary.port}/`, `:${proxy.port}/`)
    node = await startNode(throughProxy, { connections: 4, timeoutSeconds: TIMEOUT_SECONDS })
    key = await fill(node.store, portail)
  })

  beforeEach(async () => {
    await until(async () => (await read()).status === 200 && (await probe('ready')) === 200)
  })

  afterEach(async () => {
    expect(rejections).toEqual([])
  })

  afterAll(async () => {
    process.off('unhandledRejection', noteRejection)
    await node.close()
    proxy.close()
    await primary.destroy()
  })

  /** How many connections are running a statement with this text. */
  const sleepers = async (text: string) => {
    const sql = `select count(*) as nb from pg_stat_activity where query like '%${text}%' and state = 'active' and pid <> pg_backend_pid()`
    const [row] = await runSql<{ nb: string }>(database, sql)
    return Number(row!.nb)
  }
  const expectOutage = async () => {
    // Each is answered although PostgreSQL is unavailable.
    for (const path of ['/classement', '/challenges/1', '/nothing']) expectUnavailable(await node.get(path, key))
    expect(await login()).toBe(503)
    expect([await probe('live'), await probe('ready')]).toEqual([200, 503])
  }
  const login = async () => {
    const body = new URLSearchParams({ login: ACCOUNT.login, password: ACCOUNT.password })
    return (await fetch(`${node.url}/login`, { method: 'POST', body })).status
  }
  const expectRecovery = async () => {
    await until(async () => (await read()).status === 200)
    await until(async () => (await probe('ready')) === 200)
    await until(async () => (await login()) === 200)
    await until(() => node.store.state().isHearing)
    expect(await probe('live')).toBe(200)
  }

  for (const mode of ['fast', 'immediate'] as const) {
    test(`after a stop (${mode}) and a restart: 503 with Retry-After meanwhile, ready fails, live succeeds, and all recovers`, async () => {
      await primary.stop(mode)
      await expectOutage()
      await primary.start()
      await expectRecovery()
    })
  }

  test('during a restart under load, every request is answered with 200 or 503', async () => {
    const counts: Record<number, number> = { 200: 0, 503: 0 }
    let isReading = true
    const reader = async () => {
      while (isReading) {
        const answer = await read()
        counts[answer.status] = (counts[answer.status] ?? 0) + 1
        if (answer.status !== 200) expectUnavailable(answer)
      }
    }
    const answered = (status: number) => {
      const before = counts[status] as number
      return until(() => (counts[status] as number) > before + 20)
    }
    const readers = Array.from({ length: 8 }, reader)
    await answered(200)
    await primary.stop('immediate')
    await answered(503)
    await primary.start()
    await answered(200)
    isReading = false
    await Promise.all(readers)
    console.info(`primary killed under load: ${JSON.stringify(counts)}`)
    expect(Object.keys(counts)).toEqual(['200', '503'])
  })

  test('when its connections are killed repeatedly, each request is answered, and later ones succeed', async () => {
    for (let i = 0; i < 10; i++) {
      const reads = Array.from({ length: 8 }, read)
      await killConnections(database)
      for (const { status } of await Promise.all(reads)) expect([200, 503]).toContain(status)
    }
    await expectRecovery()
  })

  test('when it is slow, but within the timeout, requests wait and succeed', async () => {
    const patient = await startNode(throughProxy)
    proxy.delay(20)
    try {
      const reads = Array.from({ length: 6 }, () => patient.get(`/classement?limite=5&x=${count++}`, key))
      for (const { status } of await Promise.all(reads)) expect(status).toBe(200)
    } finally {
      proxy.delay(0)
      await patient.close()
    }
  })

  test('when it is too slow: 503 within the timeout, and all recovers', async () => {
    proxy.delay(3_000)
    try {
      await expectOutage()
    } finally {
      proxy.delay(0)
    }
    await expectRecovery()
  })

  test('when it is silent, as behind a cut cable: 503 within the timeout, and all recovers', async () => {
    proxy.blackhole(true)
    try {
      await expectOutage()
    } finally {
      proxy.blackhole(false)
    }
    await expectRecovery()
  })

  test('when it is frozen: 503 within the timeout, and all recovers', async () => {
    primary.pause()
    try {
      await expectOutage()
    } finally {
      primary.resume()
    }
    await expectRecovery()
  })

  test('when it is unreachable: 503 at once, and all recovers', async () => {
    proxy.cut()
    try {
      await expectOutage()
    } finally {
      await proxy.restore()
    }
    await expectRecovery()
  })

  test('when every connection is in use: 503, and all recovers when one is free', async () => {
    let isHolding = true
    const hold = async () => {
      while (isHolding) await node.store.read((db) => db.select('select pg_sleep(0.5)')).catch(() => undefined)
    }
    const holders = Array.from({ length: 16 }, hold)
    await until(async () => (await sleepers('pg_sleep(0.5)')) === 4)
    const answers = await Promise.all(Array.from({ length: 8 }, read))
    expect(answers.map(({ status }) => status)).toContain(503)
    for (const answer of answers) if (answer.status !== 200) expectUnavailable(answer)
    isHolding = false
    await Promise.all(holders)
    await expectRecovery()
  })

  test('when it refuses connections, or a table is changed or missing: never a 500, and all recovers', async () => {
    const name = new URL(database).pathname.slice(1)
    const statuses = new Set<number>()
    const readSome = async () => {
      for (let i = 0; i < 10; i++) statuses.add((await read()).status)
    }
    await primary.sql(`alter database ${name} allow_connections false`)
    await primary.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`,
    )
    await until(async () => {
      await readSome()
      return statuses.has(503)
    })
    await primary.sql(`alter database ${name} allow_connections true`)
    await expectRecovery()
    for (const change of [
      'alter table auteurs alter column nom type varchar(500)',
      'alter table auteurs alter column nom type text collate "C"',
      'alter table auteurs rename to ailleurs',
      'alter table ailleurs rename to auteurs',
      'alter table auteurs rename column nom to autre',
      'alter table auteurs rename column autre to nom',
    ]) {
      await runSql(database, change)
      await readSome()
    }
    await expectRecovery()
    expect([...statuses].sort()).toEqual([200, 503])
  })

  test('a lock of another process delays a login until a 503, and does not delay a read', async () => {
    const keeper = new pg.Client({ connectionString: database })
    await keeper.connect()
    await keeper.query('select pg_advisory_lock(1347177811, 1)')
    expect(await login()).toBe(503)
    await until(async () => (await read()).status === 200)
    await keeper.end()
    await until(async () => (await login()) === 200)
  })

  test('a writer that vanishes during its transaction blocks others for some seconds only', async () => {
    const gone = await startNode(database)
    const [begun, end] = [makeGate(), makeGate()]
    const holding = gone.store
      .write({}, async (db) => {
        await db.select('select 1')
        begun.open()
        await end.opened
      })
      .catch((error: Error) => error)
    await begun.opened
    expect(await login()).toBe(503)
    await until(async () => (await login()) === 200)
    end.open()
    expect(await holding).toBeInstanceOf(Error)
    await gone.close()
  })

  test('a statement that takes too long is cancelled on the server too, and its connection stays usable', async () => {
    await expect(node.store.read((db) => db.select('select pg_sleep(30)'))).rejects.toMatchObject({
      name: 'StoreError',
    })
    await until(async () => (await sleepers('pg_sleep(30)')) === 0)
    expect(await addKey(node.store, ACCOUNT.login)).toMatch(/^palm_/)
  })

  test('the log never contains the password', () => {
    expect(node.logged.length).toBeGreaterThan(5)
    expect(node.logged.join('')).not.toContain(primary.password)
  })
})

function expectUnavailable({ status, headers, text }: Answer): void {
  expect([status, text]).toEqual([503, expect.stringContaining('"code":"store_unavailable"')])
  expect(headers.get('content-type')).toBe('application/problem+json')
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
}

async function killConnections(database: string): Promise<void> {
  await runSql(
    database,
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
}
