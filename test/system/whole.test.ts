import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { WholeLimits } from '../../src/http/large.js'
import type { Line } from '../../src/portal/lines.js'
import { ingest } from '../../src/portal/live/ingest.js'
import { openStore } from '../../src/store/open.js'
import { openDriver } from '../../src/store/sqlite/driver.js'
import type { Store } from '../../src/store/store.js'
import {
  addAccount,
  addKey,
  type DumpLine,
  type Engine,
  engines,
  exportFrom,
  exportKey,
  importInto,
  makeFolder,
  OPERATOR,
  serveStore,
  startServer,
  type TestServer,
  waitForChanges,
} from '../harness.js'
import { startPalmares } from '../palmares.js'
import { PATIENCE } from '../patience.js'
import { turnsDuring } from '../turns.js'
import { problemOf } from '../wire.js'

const CHALLENGES = 200
const DESCRIPTION_CHARACTERS = 102_000

/** 20 MB as a dump: more than socket buffers hold. */
function heavy(): DumpLine[] {
  return [
    { type: 'rubrique', id_rubrique: 1, nom: 'Une' },
    { type: 'auteur', id_auteur: 1, nom: 'alice' },
    ...Array.from({ length: CHALLENGES }, (_, i) => ({
      ...{ type: 'challenge', id_challenge: i + 1, id_rubrique: 1, titre: `Défi ${i}`, score: 1 },
      descriptif: 'lorem '.repeat(DESCRIPTION_CHARACTERS / 6),
    })),
    { type: 'validation', id_auteur: 1, id_challenge: 1, date: '2026-01-31T12:00:00Z' },
  ]
}

/** A request and its response in progress. */
interface Taken {
  sent: ClientRequest
  answer: IncomingMessage
}

async function take(url: string, key: string, path = '/export', headers = {}): Promise<Taken> {
  const sent = request(url + path, { headers: { authorization: `Bearer ${key}`, ...headers }, agent: false }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  sent.on('error', () => undefined)
  return { sent, answer }
}

describe.each(engines)('a streamed response, too large for the cache, on %s', (engine) => {
  let server: TestServer
  let key: string
  const sockets: Socket[] = []
  beforeAll(async () => {
    server = await startServer(heavy(), { engine, settings: { cacheMegabytes: 0 } })
    key = await exportKey(server)
    server.app.server.on('connection', (socket: Socket) => sockets.push(socket))
  })
  afterEach(() => vi.waitFor(() => expect(server.store.state().streams).toBe(0), PATIENCE))
  afterAll(() => server.close())

  /** Serves the same store with other limits. */
  const serveWith = (wholeLimits: WholeLimits) =>
    serveStore(server.store, { settings: { cacheMegabytes: 0 }, wholeLimits })

  test('is read only as fast as its client takes it, and its snapshot ends with the client', async () => {
    for (const isAtOnce of [true, false]) {
      const { sent } = await take(server.url, key)
      if (!isAtOnce) await waitUntilStable(() => sockets.at(-1)!.bytesWritten)
      expect(server.store.state().streams).toBe(1)
      // This number includes bytes in the socket's buffer that the client has not taken.
      expect(sockets.at(-1)!.bytesWritten).toBeLessThan((CHALLENGES * DESCRIPTION_CHARACTERS * 3) / 4)
      sent.destroy()
      await vi.waitFor(() => expect(server.store.state().streams).toBe(0), PATIENCE)
      expect(await openSnapshots(engine, server)).toBe(0)
    }
    expect((await server.get('/rubriques')).status).toBe(200)
    expect(server.log.filter((line) => /connection closed|internal/.test(line))).toEqual([])
  })

  test('is limited to two at a time in a process; a third is overloaded until one has ended', async () => {
    const first = await take(server.url, key)
    const second = await take(server.url, key, '/export?format=json')
    for (const path of ['/export', '/export?ressource=auteurs&format=csv']) {
      const headers = { authorization: `Bearer ${key}` }
      const answer = await server.anonymous(path, { headers })
      expect(answer.headers.get('content-disposition')).toBeNull()
      await problemOf(answer, 'overloaded')
    }
    first.sent.destroy()
    await vi.waitFor(() => expect(server.store.state().streams).toBe(1), PATIENCE)
    const third = await take(server.url, key, '/export?ressource=auteurs&format=csv')
    expect(await text(third.answer)).toBe('id_auteur,nom,statut,lang,score,nb_validations,groupe\r\n1,alice,,,1,1,\r\n')
    second.sent.destroy()
  })

  test('is aborted if its client stops reading for too long, and the client notices', async () => {
    const { app, url, log } = await serveWith({ stallMilliseconds: 300, maxMilliseconds: 60_000 })
    const { answer } = await take(url, key)
    await vi.waitFor(() => expect(server.store.state().streams).toBe(0), PATIENCE)
    expect(await openSnapshots(engine, server)).toBe(0)
    await expect(text(answer)).rejects.toThrow('aborted')
    expect(log.join()).toContain('stopped reading')
    await app.close()
  })

  test('is refused to HTTP/1.0, where a truncated response would look complete', async () => {
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    socket.write(`GET /export HTTP/1.0\r\nAuthorization: Bearer ${key}\r\n\r\n`)
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1\.1 426 Upgrade Required\r\n/)
    expect(answer).toMatch(/\r\nupgrade: HTTP\/1\.1\r\n/)
    expect(answer).toContain('"code":"http_1_1_required"')
  })

  test('is aborted if its client takes too long in total', async () => {
    const { app, url, log } = await serveWith({ stallMilliseconds: 60_000, maxMilliseconds: 500 })
    const { answer } = await take(url, key)
    await vi.waitFor(() => expect(server.store.state().streams).toBe(0), PATIENCE)
    await expect(text(answer)).rejects.toThrow('aborted')
    expect(log.join()).toContain('failed midway')
    await app.close()
  })

  test('shows one version completely to a slow client, and later changes to everybody else', async () => {
    const before = await exportFrom(server.store)
    const { answer } = await take(server.url, key)
    expect([answer.statusCode, answer.headers['transfer-encoding'], answer.headers.etag]).toEqual([
      200,
      'chunked',
      undefined,
    ])
    await vi.waitFor(() => expect(server.store.state().streams).toBe(1), PATIENCE)
    // The change is at the end of the response, which has not been read yet.
    const renamed = { type: 'challenge', id_challenge: CHALLENGES, id_rubrique: 1, titre: 'Autre', score: 7 }
    await importInto(server.store, [renamed, { type: 'auteur', id_auteur: 2, nom: 'bob' }])
    await ingest(server.store, [`{"type":"validation","id_auteur":2,"id_challenge":${CHALLENGES}}`].map(lineOf))
    await waitForChanges(server)
    expect(await server.json(`/challenges/${CHALLENGES}`)).toMatchObject({ titre: 'Autre', nb_validations: 1 })
    expect(await server.json('/auteurs/2')).toMatchObject({ nom: 'bob', score: 7 })
    expect(server.store.state().streams).toBe(1)
    const shown = (await text(answer)).split('\n').slice(0, -1)
    expect(shown.map((line) => JSON.parse(line))).toEqual(before)
    await vi.waitFor(() => expect(server.store.state().streams).toBe(0), PATIENCE)
    expect(await openSnapshots(engine, server)).toBe(0)

    const next = await take(server.url, key, '/export?format=json', { 'accept-encoding': 'gzip' })
    expect(next.answer.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
    const chunks: Buffer[] = []
    for await (const chunk of next.answer) chunks.push(chunk)
    expect(JSON.parse(gunzipSync(Buffer.concat(chunks)).toString())).toEqual(await exportFrom(server.store))
  })

  test('is aborted if something fails midway, and the log has the cause', async () => {
    await server.store.write({}, (db) => db.exec('update validations set date = 9000000000000'))
    const { answer } = await take(server.url, key)
    await expect(text(answer)).rejects.toThrow('aborted')
    await vi.waitFor(() => expect(server.store.state().streams).toBe(0), PATIENCE)
    const logged = server.log.map((line) => JSON.parse(line)).find(({ msg }) => /midway/.test(msg))
    expect(logged).toMatchObject({ msg: 'a response failed midway; connection closed', err: { type: 'RangeError' } })
    expect((await server.get('/rubriques')).status).toBe(200)
  })
})

test('a cached response is aborted too if its client stops reading', async () => {
  const some = heavy().filter(({ type, id_challenge }) => type !== 'challenge' || Number(id_challenge) <= 60)
  const server = await startServer(some)
  const key = await exportKey(server)
  const limits = { stallMilliseconds: 2_000, maxMilliseconds: PATIENCE.timeout }
  const { app, url, log } = await serveStore(server.store, { wholeLimits: limits })
  const { answer } = await take(url, key)
  expect(answer.headers.etag).toBeDefined()
  expect((await text(answer)).length).toBeGreaterThan(0)
  const sockets: Socket[] = []
  app.server.on('connection', (socket: Socket) => sockets.push(socket))
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).pause()
  socket.write(`GET /export HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`.repeat(4))
  await vi.waitFor(() => expect(sockets[0]?.destroyed).toBe(true), PATIENCE)
  expect(log.join()).toContain('stopped reading')
  socket.destroy()
  await app.close()
  await server.close()
})

test('streaming does not block the event loop', async () => {
  const auteurs = Array.from({ length: 10_000 }, (_, i) => {
    return { type: 'auteur', id_auteur: i + 1, nom: `auteur ${i}`, score: i }
  })
  const server = await startServer(auteurs, { settings: { cacheMegabytes: 0 } })
  const key = await exportKey(server)
  for (const path of ['/export', '/export?ressource=classement&format=csv', '/export?format=json', '/ctftime']) {
    const turns = await turnsDuring(async () => {
      const { answer } = await take(server.url, key, path)
      expect((await text(answer)).length).toBeGreaterThan(200_000)
    })
    // 20 chunks of rows, each of which waits for the store, and then for the client.
    expect([path, turns > 200]).toEqual([path, true])
  }
  await server.close()
})

test('a shutdown finishes a response in flight and aborts one that nobody reads, with exit status 0', async () => {
  const folder = makeFolder()
  const url = `sqlite:${folder}/portal.db`
  const store = await openStore(url, { create: true })
  await importInto(store, heavy())
  await addAccount(store, OPERATOR)
  const key = await addKey(store, OPERATOR.login, { portee: ['export'] })
  const expected = await exportFrom(store)
  await store.close()
  const program = await startPalmares(['serve', '--database', url, '--metrics-port', '0', '--cache-megabytes', '0'], {
    cwd: folder,
  })
  const slow = await take(program.url, key)
  const stuck = await take(program.url, key)
  const ended = program.stop()
  await vi.waitFor(() => expect(fetch(program.url)).rejects.toThrow(), PATIENCE)
  const lines = (await text(slow.answer)).split('\n').slice(0, -1)
  expect(lines.map((line) => JSON.parse(line))).toEqual(expected)
  expect(await ended).toBe(0)
  await expect(text(stuck.answer)).rejects.toThrow('aborted')
  rmSync(folder, { recursive: true })
})

/** Waits until a number stops changing. */
async function waitUntilStable(read: () => number): Promise<void> {
  for (let before = -1; before !== read(); await sleep(200)) before = read()
}

function lineOf(text: string, i: number): Line {
  return { number: i + 1, text }
}

/** The number of snapshots that keep the store from cleaning up, as the engine reports it. */
async function openSnapshots(engine: Engine, { store, database }: { store: Store; database: string }): Promise<number> {
  if (engine === 'postgres') {
    const [found] = await store.read((db) =>
      db.select<{ nb: number }>(
        "select count(*) as nb from pg_stat_activity where datname = current_database() and state = 'idle in transaction'",
      ),
    )
    return found!.nb
  }
  await store.write({}, (db) => db.exec('update etat set id = id'))
  const driver = openDriver(database.slice('sqlite:'.length), { busyTimeoutMilliseconds: 1_000 })
  const { busy } = driver.prepare('pragma wal_checkpoint(truncate)').get() as { busy: number }
  driver.close()
  return busy
}
