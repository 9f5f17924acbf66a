import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findCompte, setDisabled } from '../../src/auth/comptes-queries.js'
import { portail } from '../fixtures.js'
import { ACCOUNT, addKey, importInto } from '../harness.js'
import { fill, type Node, type NodeOptions, startNode, until } from '../nodes.js'
import { createDatabase, findBinaries, type PostgresServer, startPrimary, startReplica } from '../servers/postgres.js'
import { startProxy } from '../servers/proxy.js'

const READS = ['/rubriques', '/challenges', '/challenges/3', '/classement?limite=3', '/auteurs/2', '/auteurs?nom=lodie']

describe.skipIf(!findBinaries())('reads from replicas', () => {
  let primary: PostgresServer
  let replica: PostgresServer
  let database: string
  let replicaUrl: string
  let key: string
  const nodes: Node[] = []

  const start = async (options: NodeOptions = {}) => {
    const node = await startNode(database, { replicas: [replicaUrl], ...options })
    nodes.push(node)
    return node
  }
  const name = async (i: number | string) =>
    importInto(nodes[0]!.store, [{ type: 'rubrique', id_rubrique: 1, nom: `Reseau ${i}` }])
  const replay = (verb: 'pause' | 'resume') => replica.sql(`select pg_wal_replay_${verb}()`)
  const caughtUp = () =>
    until(async () => {
      const [at] = await primary.sql<{ lsn: string }>('select pg_current_wal_lsn() as lsn')
      const [seen] = await replica.sql<{ ok: boolean }>(`select pg_last_wal_replay_lsn() >= '${at!.lsn}'::pg_lsn as ok`)
      return seen!.ok
    })

  beforeAll(async () => {
    primary = await startPrimary()
    database = await createDatabase(primary)
    replica = await startReplica(primary)
    replicaUrl = replica.url(new URL(database).pathname.slice(1))
    const first = await startNode(database)
    nodes.push(first)
    key = await fill(first.store, portail)
    await caughtUp()
  })

  afterAll(async () => {
    for (const node of nodes) await node.close()
    await replica.destroy()
    await primary.destroy()
  })

  test('replicas return the same bytes as the primary, and relieve it of the reads', async () => {
    const [alone, node] = [nodes[0]!, await start()]
    await node.get('/rubriques', key)
    const before = node.store.state().reads
    const reads = Array.from({ length: 20 }, (_, i) =>
      READS.map((path) => `${path}${path.includes('?') ? '&' : '?'}x=${i}`),
    ).flat()
    for (const path of reads) {
      // Each value of the unknown parameter makes another address, which is not cached.
      const [own, same] = [await node.get(path, key), await alone.get(path, key)]
      expect([path, own.status, own.text]).toEqual([path, same.status, same.text])
      expect(own.headers.get('etag')).toBe(same.headers.get('etag'))
    }
    const after = node.store.state().reads
    expect({ primary: after.primary - before.primary, replica: after.replica - before.replica }).toEqual({
      primary: 0,
      replica: reads.length,
    })
  })

  test('a lagging replica shows nothing old: the next request after a change has it, and the replica is used again later', async () => {
    const node = await start()
    await replay('pause')
    try {
      for (let i = 0; i < 5; i++) {
        await importInto(node.store, [{ type: 'rubrique', id_rubrique: 1, nom: `En retard ${i}` }])
        expect((await node.get('/rubriques', key)).text).toContain(`En retard ${i}`)
        expect((await node.get(`/challenges?x=${i}`, key)).text).toContain(`En retard ${i}`)
      }
    } finally {
      await replay('resume')
    }
    await caughtUp()
    await until(() => node.store.state().replicas.usable === 1)
    const before = node.store.state().reads.replica
    for (let i = 0; i < 20; i++) expect((await node.get(`/rubriques?y=${i}`, key)).text).toContain('En retard 4')
    expect(node.store.state().reads.replica - before).toBe(20)
  })

  test('responses never mix two versions, nor go back, while changes continue', async () => {
    const node = await start()
    let isWriting = true
    const writing = (async () => {
      for (let i = 0; isWriting; i++) await name(i)
    })()
    let last = -1
    let answers = 0
    while (last <= 5 || answers <= 50) {
      const { status, text } = await node.get('/challenges', key)
      expect(status).toBe(200)
      const seen = new Set([...text.matchAll(/Reseau (\d+)/g)].map(([, i]) => Number(i)))
      expect(seen.size).toBeLessThanOrEqual(1)
      for (const i of seen) {
        expect(i).toBeGreaterThanOrEqual(last)
        last = i
      }
      answers++
    }
    isWriting = false
    await writing
  })

  test('reads fall back to the primary when the replica is killed, at once and without failures, and return to it', async () => {
    const node = await start()
    let isReading = true
    const statuses: Record<number, number> = {}
    const reader = async (own: number) => {
      for (let i = 0; isReading; i++) {
        const { status } = await node.get(`/classement?limite=${1 + (i % 50)}&x=${own}.${i}`, key)
        statuses[status] = (statuses[status] ?? 0) + 1
      }
    }
    const answeredMore = async () => {
      const count = () => Object.values(statuses).reduce((sum, each) => sum + each, 0)
      const before = count()
      await until(() => count() > before + 100)
    }
    const readers = Array.from({ length: 8 }, (_, own) => reader(own))
    await answeredMore()
    await replica.stop('immediate')
    await answeredMore()
    await replica.start()
    await until(() => node.logged.some((line) => line.includes('reads go to this replica again')))
    await answeredMore()
    isReading = false
    await Promise.all(readers)
    expect(Object.keys(statuses)).toEqual(['200'])
    expect(node.logged.filter((line) => line.includes('reads go to the primary meanwhile'))).not.toHaveLength(0)
  })

  test('a hanging replica delays one request, and is then not used', async () => {
    const node = await start()
    await node.get('/rubriques?h=0', key)
    replica.pause()
    try {
      expect((await node.get('/rubriques?h=1', key)).status).toBe(200)
      const { reads, replicas } = node.store.state()
      expect(replicas.usable).toBe(0)
      for (let i = 2; i < 10; i++) expect((await node.get(`/rubriques?h=${i}`, key)).status).toBe(200)
      expect(node.store.state().reads).toEqual({ ...reads, primary: reads.primary + 8 })
    } finally {
      replica.resume()
    }
    await until(() => node.logged.some((line) => line.includes('reads go to this replica again')))
  })

  test('a node starts and serves while its replica is unavailable, and uses it later', async () => {
    await replica.stop('fast')
    const node = await start()
    expect((await node.get('/rubriques', key)).status).toBe(200)
    await replica.start()
    await until(() => node.store.state().replicas.usable === 1)
  })

  test('a server that replaces a replica is not used if it has another portal or is a primary', async () => {
    const stranger = await startPrimary()
    const name = new URL(database).pathname.slice(1)
    await stranger.sql(`create database ${name}`)
    const strange = await startNode(stranger.url(name))
    const proxy = await startProxy(stranger.port)
    proxy.cut()
    const node = await start({ replicas: [replicaUrl.replace(`:${replica.port}/`, `:${proxy.port}/`)] })
    try {
      await fill(strange.store, portail)
      await importInto(strange.store, [{ type: 'rubrique', id_rubrique: 1, nom: 'Ailleurs' }])
      await proxy.restore()
      for (let i = 0; i < 30; i++) {
        expect((await node.get(`/rubriques?z=${i}`, key)).text).not.toContain('Ailleurs')
        await wait(20)
      }
      expect(node.store.state()).toMatchObject({ reads: { replica: 0 }, replicas: { usable: 0, known: 1 } })
    } finally {
      await strange.close()
      proxy.close()
      await stranger.destroy()
    }
  })

  test('credentials are read from the primary: new and ended ones apply at once, however far the replica lags', async () => {
    const node = await start()
    await replay('pause')
    try {
      const made = await addKey(node.store, ACCOUNT.login)
      expect((await node.get('/rubriques', made)).status).toBe(200)
      await node.store.write({ comptes: true }, async (db) => {
        const compte = await findCompte(db, ACCOUNT.login)
        await setDisabled(db, compte!.id_compte, true)
      })
      expect((await node.get('/rubriques', made)).status).toBe(401)
    } finally {
      await replay('resume')
    }
  })
})

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
