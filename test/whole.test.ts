import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openStore } from '../src/store/open.js'
import { openDriver } from '../src/store/sqlite/driver.js'
import type { Store } from '../src/store/store.js'
import {
  type AppOptions,
  addAccount,
  addKey,
  addRubrique,
  type DumpLine,
  type Engine,
  engines,
  exportFrom,
  exportKey,
  importInto,
  makeFolder,
  OPERATOR,
  startServer,
  type TestServer,
} from './harness.js'
import { startPalmares } from './palmares.js'
import { turnsDuring } from './turns.js'
import { problemOf } from './wire.js'

const CHALLENGES = 400
const DESCRIPTION_CHARACTERS = 100_000

/** 40 MB as a dump: more than the sockets between a server and a client hold. */
function heavy(edition = 0): DumpLine[] {
  return [
    { type: 'rubrique', id_rubrique: 1, nom: 'Une' },
    { type: 'auteur', id_auteur: 1, nom: 'alice' },
    ...Array.from({ length: CHALLENGES }, (_, i) => ({
      ...{ type: 'challenge', id_challenge: i + 1, id_rubrique: 1, titre: `Défi ${i} ${edition}`, score: 1 },
      descriptif: `${edition}`.padEnd(DESCRIPTION_CHARACTERS, 'lorem '),
    })),
    { type: 'validation', id_auteur: 1, id_challenge: 1, date: '2026-01-31T12:00:00Z' },
  ]
}

/** What is asked of a server, and its answer as it comes. */
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

describe.each(engines)('an answer that goes out whole, larger than is held, on %s', (engine) => {
  let server: TestServer
  let key: string
  const sockets: Socket[] = []
  const start = async (options: AppOptions = {}, dump = heavy()) => {
    server = await startServer(dump, { engine, settings: { cacheMegabytes: 0 }, ...options })
    key = await exportKey(server)
    server.app.server.on('connection', (socket: Socket) => sockets.push(socket))
  }
  afterEach(() => server.close())

  test('shows one version whole to who takes it slowly, and the changes meanwhile to everybody else', async () => {
    await start()
    const before = await exportFrom(server.store)
    const { answer } = await take(server.url, key)
    expect([answer.statusCode, answer.headers['transfer-encoding'], answer.headers.etag]).toEqual([
      200,
      'chunked',
      undefined,
    ])
    await vi.waitFor(() => expect(server.store.state().streams).toBe(1))
    await importInto(server.store, heavy(1), { replace: true })
    await addRubrique(server.store, 'Nouvelle')
    await sleep(200)
    expect(await (await server.get('/challenges/7')).text()).toContain('fi 6 1')
    expect(await (await server.get('/rubriques')).text()).toContain('Nouvelle')
    expect(server.store.state().streams).toBe(1)
    const shown = (await text(answer)).split('\n').slice(0, -1)
    expect(shown.map((line) => JSON.parse(line))).toEqual(before)
    await vi.waitFor(() => expect(server.store.state().streams).toBe(0))
    expect(await openSnapshots(engine, server)).toBe(0)

    const next = await take(server.url, key, '/export?format=json', { 'accept-encoding': 'gzip' })
    expect(next.answer.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
    const chunks: Buffer[] = []
    for await (const chunk of next.answer) chunks.push(chunk)
    expect(JSON.parse(gunzipSync(Buffer.concat(chunks)).toString())).toEqual(await exportFrom(server.store))
  })

  test('is read no further than its client takes it, and its snapshot ends with the client', async () => {
    await start()
    for (const wait of [0, 30, 300]) {
      const { sent } = await take(server.url, key)
      await sleep(wait)
      expect(server.store.state().streams).toBe(1)
      // What was handed to the socket and not taken is part of this number.
      expect(sockets.at(-1)!.bytesWritten).toBeLessThan((CHALLENGES * DESCRIPTION_CHARACTERS) / 2)
      sent.destroy()
      await vi.waitFor(() => expect(server.store.state().streams).toBe(0))
      expect(await openSnapshots(engine, server)).toBe(0)
    }
    expect((await server.get('/rubriques')).status).toBe(200)
    expect(server.log.filter((line) => JSON.parse(line).level >= 40)).toEqual([])
  })

  test('is made twice at once in a process; a third is overloaded until one has ended', async () => {
    await start()
    const first = await take(server.url, key)
    const second = await take(server.url, key, '/export?format=json')
    for (const path of ['/export', '/export?ressource=auteurs&format=csv']) {
      const headers = { authorization: `Bearer ${key}` }
      const answer = await server.anonymous(path, { headers })
      expect(answer.headers.get('content-disposition')).toBeNull()
      await problemOf(answer, 'overloaded')
    }
    first.sent.destroy()
    await vi.waitFor(() => expect(server.store.state().streams).toBe(1))
    const third = await take(server.url, key, '/export?ressource=auteurs&format=csv')
    expect(await text(third.answer)).toBe('id_auteur,nom,statut,lang,score,nb_validations\r\n1,alice,,,1,1\r\n')
    second.sent.destroy()
  })

  test('is cut where its client takes nothing for the time that it has, so that the client knows', async () => {
    await start({ wholeLimits: { stallMilliseconds: 300, maxMilliseconds: 60_000 } })
    const { answer } = await take(server.url, key)
    await vi.waitFor(() => expect(server.store.state().streams).toBe(0), { timeout: 5_000 })
    expect(await openSnapshots(engine, server)).toBe(0)
    await expect(text(answer)).rejects.toThrow('aborted')
    expect(server.log.join()).toContain('takes nothing')
  })

  test('is cut where its client takes it too slowly in all', async () => {
    await start({ wholeLimits: { stallMilliseconds: 60_000, maxMilliseconds: 500 } })
    const { answer } = await take(server.url, key)
    await vi.waitFor(() => expect(server.store.state().streams).toBe(0), { timeout: 5_000 })
    await expect(text(answer)).rejects.toThrow('aborted')
    expect(server.log.join()).toContain('cut before its end')
  })

  test('is cut where something fails in its middle, and the log says what', async () => {
    await start()
    await server.store.write({}, (db) => db.exec('update validations set date = 9000000000000'))
    const { answer } = await take(server.url, key)
    await expect(text(answer)).rejects.toThrow('aborted')
    await vi.waitFor(() => expect(server.store.state().streams).toBe(0))
    const said = server.log.map((line) => JSON.parse(line)).find(({ level }) => level === 50)
    expect(said).toMatchObject({ msg: 'an answer was cut before its end', err: { type: 'RangeError' } })
    expect((await server.get('/rubriques')).status).toBe(200)
  })

  test('leaves the event loop to others while it is made', async () => {
    await start({}, [
      ...Array.from({ length: 20_000 }, (_, i) => ({ type: 'auteur', id_auteur: i + 1, nom: `auteur ${i}`, score: i })),
    ])
    for (const path of ['/export', '/export?ressource=classement&format=csv', '/export?format=json', '/ctftime']) {
      const turns = await turnsDuring(async () => {
        const { answer } = await take(server.url, key, path)
        expect((await text(answer)).length).toBeGreaterThan(400_000)
      })
      // A chunk of rows at a time: 40 of them, and each waits for the store and for the client besides.
      expect([path, turns > 50]).toEqual([path, true])
    }
  })
})

describe('a stop of the program', () => {
  let url: string
  let folder: string
  beforeEach(() => {
    folder = makeFolder()
    url = `sqlite:${folder}/portal.db`
  })

  test('lets an answer under way go out whole, and ends one that nobody takes; the exit status is 0', async () => {
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
    await sleep(500)
    const lines = (await text(slow.answer)).split('\n').slice(0, -1)
    expect(lines.map((line) => JSON.parse(line))).toEqual(expected)
    expect(await ended).toBe(0)
    await expect(text(stuck.answer)).rejects.toThrow('aborted')
  }, 20_000)
})

/** Snapshots that keep the store from tidying up, as the engine itself knows them. */
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
