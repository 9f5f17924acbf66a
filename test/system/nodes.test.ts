import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { listCles, revokeCle } from '../../src/auth/cles-queries.js'
import { setDisabled } from '../../src/auth/comptes-queries.js'
import { nowSeconds } from '../../src/instant.js'
import { portail } from '../fixtures.js'
import { ACCOUNT, addKey, importInto, makeStore } from '../harness.js'
import { fill, type Node, startNode, until } from '../nodes.js'
import { createDatabase, dropDatabase, runSql } from '../servers/postgres.js'

const postgresUrl = inject('postgresUrl')
const TRIES = 100

describe.skipIf(!postgresUrl)('two nodes of one PostgreSQL', () => {
  let database: string
  let one: Node
  let other: Node
  let key: string

  beforeAll(async () => {
    database = await createDatabase(postgresUrl as string)
    one = await startWithoutHeartbeat(database)
    other = await startWithoutHeartbeat(database)
    key = await fill(one.store, portail)
    await until(async () => (await other.get('/rubriques', key)).status === 200)
  })

  afterAll(async () => {
    await one.close()
    await other.close()
    await dropDatabase(database)
  })

  const revoke = async (node: Node, revoked: string) => {
    const [cle] = await node.store.read(async (db) => {
      const all = await listCles(db, nowSeconds())
      return all.filter(({ prefixe }) => revoked.startsWith(prefixe))
    })
    await node.store.write({ comptes: true }, (db) => revokeCle(db, cle!.id_cle, nowSeconds()))
  }

  test('a key revoked on one node is refused by the other, which is notified without a request', async () => {
    const milliseconds: number[] = []
    for (let i = 0; i < TRIES; i++) {
      const doomed = await addKey(one.store, ACCOUNT.login)
      expect((await other.get('/rubriques', doomed)).status).toBe(200)
      await revoke(one, doomed)
      milliseconds.push(await until(async () => (await other.get('/rubriques', doomed)).status === 401))
    }
    milliseconds.sort((a, b) => a - b)
    const at = (part: number) => milliseconds[Math.ceil(TRIES * part) - 1] as number
    console.info(
      `revocation on another node, ${TRIES} tries: p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms, max ${at(1).toFixed(1)} ms`,
    )
  })

  test('a revoked key, a disabled account and a change of data apply to the next request on the same node', async () => {
    for (let i = 0; i < 20; i++) {
      const doomed = await addKey(one.store, ACCOUNT.login)
      expect((await one.get('/rubriques', doomed)).status).toBe(200)
      await revoke(one, doomed)
      expect((await one.get('/rubriques', doomed)).status).toBe(401)
      await importInto(one.store, [{ type: 'rubrique', id_rubrique: 1, nom: `câbles ${i}` }])
      expect((await one.get('/rubriques', key)).text).toContain(`cbles ${i}`.replace('c', 'c\\u00e2'))
    }
  })

  test('an import on one node is visible on the other within a moment, with another ETag', async () => {
    for (let i = 0; i < 20; i++) {
      const before = await other.get('/challenges', key)
      await importInto(one.store, [{ type: 'challenge', id_challenge: 4, id_rubrique: 2, titre: `Nu ${i}`, score: 0 }])
      await until(async () => (await other.get('/challenges', key)).text.includes(`Nu ${i}"`))
      const after = await other.get('/challenges', key)
      expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'))
      expect(after.text).toBe((await one.get('/challenges', key)).text)
    }
  })

  test('a disabled account is refused by the other node', async () => {
    const compte = async (isDisabled: boolean) =>
      one.store.write({ comptes: true }, async (db) => {
        const row = await db.get(db.q.selectFrom('comptes').selectAll().where('login', '=', ACCOUNT.login))
        await setDisabled(db, row!.id_compte, isDisabled)
      })
    await compte(true)
    await until(async () => (await other.get('/rubriques', key)).status === 401)
    await compte(false)
    await until(async () => (await other.get('/rubriques', key)).status === 200)
  })

  test('a forged notification with other version numbers changes nothing', async () => {
    for (let i = 0; i < 50; i++) await runSql(database, "notify palmares_public, '9007199254740991 9007199254740991'")
    const doomed = await addKey(one.store, ACCOUNT.login)
    expect((await other.get('/rubriques', doomed)).status).toBe(200)
    await revoke(one, doomed)
    await until(async () => (await other.get('/rubriques', doomed)).status === 401)
    await importInto(one.store, [{ type: 'rubrique', id_rubrique: 7, nom: 'Vide encore' }])
    await until(async () => (await other.get('/rubriques', key)).text.includes('Vide encore'))
  })

  test('after a failover that lost changes, nodes return to the older version and never show the lost one again', async () => {
    const named = async (nom: string) => {
      await importInto(one.store, [{ type: 'rubrique', id_rubrique: 7, nom }])
      await until(async () => (await other.get('/rubriques', key)).text.includes(nom.replace('é', '\\u00e9')))
    }
    await named('gardé')
    const [kept] = await runSql<{ v: string }>(database, 'select version_donnees as v from etat')
    await named('perdu')
    await runSql(
      database,
      `update rubriques set nom = 'gardé' where id_rubrique = 7; update etat set version_donnees = ${kept!.v}`,
    )
    await runSql(
      database,
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    for (const node of [one, other]) {
      await until(async () => (await node.get('/rubriques', key)).text.includes('gard\\u00e9'))
      await until(() => node.store.state().isHearing)
      for (let i = 0; i < 5; i++) expect((await node.get('/rubriques', key)).text).not.toContain('perdu')
    }
    await named('repris')
    for (const node of [one, other]) expect((await node.get('/rubriques', key)).text).toContain('repris')
  })

  test('a version lost in a failover is dropped, even by a node that saw it after it was connected to the new primary', async () => {
    const shows = (node: Node, nom: string) => async () => (await node.get('/rubriques', key)).text.includes(nom)
    await importInto(one.store, [{ type: 'rubrique', id_rubrique: 7, nom: 'avant' }])
    const [kept] = await runSql<{ v: string }>(database, 'select version_donnees as v from etat')
    await importInto(one.store, [{ type: 'rubrique', id_rubrique: 7, nom: 'perdu' }])
    for (const node of [one, other]) await until(shows(node, 'perdu'))
    // There is no notification: the listening connections stay, as if already connected to the new primary.
    await runSql(
      database,
      `update rubriques set nom = 'avant' where id_rubrique = 7; update etat set version_donnees = ${kept!.v}`,
    )
    for (const node of [one, other]) {
      await until(shows(node, 'avant'))
      expect((await node.store.versions()).donnees).toBe(Number(kept!.v))
      expect(node.store.state().isHearing).toBe(true)
    }
    await importInto(one.store, [{ type: 'rubrique', id_rubrique: 7, nom: 'ensuite' }])
    for (const node of [one, other]) await until(shows(node, 'ensuite'))
  })

  test('a node that reconnects its listener drops its other connections, which may lead to a former primary', async () => {
    const pids = async () => {
      const rows = await runSql<{ pid: number }>(
        database,
        'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      )
      return new Set(rows.map(({ pid }) => pid))
    }
    const readMany = () => Promise.all(Array.from({ length: 12 }, (_, i) => one.get(`/challenges?x=${i}`, key)))
    await readMany()
    const before = await pids()
    expect(before.size).toBeGreaterThan(4)
    await cutLines(database)
    await until(async () => {
      const now = await pids()
      return [...before].every((pid) => !now.has(pid))
    })
    for (const { status } of await readMany()) expect(status).toBe(200)
  })

  test('a node whose listening connection is cut checks with each request, misses nothing, and then listens again', async () => {
    const doomed = await addKey(one.store, ACCOUNT.login)
    expect((await other.get('/rubriques', doomed)).status).toBe(200)
    const listenings = () => other.logged.filter((line) => line.includes('listening for changes again')).length
    const before = listenings()
    // The listening connections of both nodes are cut repeatedly while changes continue.
    const cutting = setInterval(() => cutLines(database).catch(() => undefined), 20)
    try {
      for (let i = 0; i < 10; i++) {
        await importInto(one.store, [{ type: 'rubrique', id_rubrique: 2, nom: `Stégano ${i}` }])
        await cutLines(database)
        await until(() => other.logged.some((line) => line.includes('no longer listening')))
        await until(async () => (await other.get('/rubriques', key)).text.includes(`gano ${i}"`))
      }
      await revoke(one, doomed)
      await until(async () => (await other.get('/rubriques', doomed)).status === 401)
    } finally {
      clearInterval(cutting)
    }
    await until(() => listenings() > before)
    await importInto(one.store, [{ type: 'rubrique', id_rubrique: 2, nom: 'Stéganographie' }])
    await until(async () => (await other.get('/rubriques', key)).text.includes('ganographie'))
  })
})

/** A node that never polls for changes while its listening connection is alive. */
async function startWithoutHeartbeat(database: string): Promise<Node> {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  try {
    return await startNode(database)
  } finally {
    vi.useRealTimers()
  }
}

/** Ends the listening connections. */
async function cutLines(database: string): Promise<void> {
  await runSql(
    database,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'select version_donnees%' and pid <> pg_backend_pid() and state = 'idle'`,
  )
}

test("processes on one SQLite file see each other's changes with the next request", async () => {
  const made = await makeStore('sqlite')
  const nodes = [await startNode(made.url), await startNode(made.url)]
  const key = await fill(made.store, portail)
  for (let i = 0; i < 50; i++) {
    await importInto(made.store, [{ type: 'rubrique', id_rubrique: 7, nom: `Vide ${i}` }])
    for (const node of nodes) expect((await node.get('/rubriques', key)).text).toContain(`Vide ${i}"`)
  }
  for (const node of nodes) await node.close()
  await made.close()
})
