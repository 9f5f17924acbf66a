import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { randomPortal } from '../../test/fixtures.js'
import {
  type DumpLine,
  engines,
  importInto,
  serveStore,
  startServer,
  type TestServer,
  waitForChanges,
} from '../../test/harness.js'
import { Model } from '../../test/model.js'
import { problemOf } from '../../test/wire.js'
import { taskNames } from './names.js'

/** About 20,000 validations, with ties, hidden authors and unknown dates. */
const generated = randomPortal({ seed: 7, auteurs: 1_500, challenges: 60, validations: 24_000, scores: 8 })

const expected = feedOf(generated)

const small: DumpLine[] = [
  { type: 'rubrique', id_rubrique: 1, nom: 'Une' },
  { type: 'auteur', id_auteur: 1, nom: 'alice' },
  { type: 'auteur', id_auteur: 2, nom: 'Élodie "<b>"' },
  { type: 'auteur', id_auteur: 3, nom: 'bob' },
  { type: 'auteur', id_auteur: 4, nom: 'cachée', statut: '5poubelle', score: 1000 },
  { type: 'challenge', id_challenge: 1, id_rubrique: 1, titre: '__proto__', score: 10 },
  { type: 'challenge', id_challenge: 2, id_rubrique: 1, titre: 'Entrée', lang: 'fr', id_trad: 2, score: 20 },
  { type: 'challenge', id_challenge: 3, id_rubrique: 1, titre: 'Entrée', lang: 'en', id_trad: 2, score: 20 },
  { type: 'challenge', id_challenge: 4, id_rubrique: 1, titre: '42', score: 5 },
  { type: 'validation', id_auteur: 1, id_challenge: 4, date: '2026-01-31T12:00:00Z' },
  { type: 'validation', id_auteur: 1, id_challenge: 2, date: '2026-01-31T11:00:00Z' },
  { type: 'validation', id_auteur: 2, id_challenge: 3 },
  { type: 'validation', id_auteur: 2, id_challenge: 4, date: '1970-01-01T00:00:01Z' },
  { type: 'validation', id_auteur: 3, id_challenge: 1 },
]

const FEED =
  '{"tasks":["__proto__","Entr\\u00e9e (2)","Entr\\u00e9e (3)","42"],"standings":[' +
  '{"pos":1,"team":"alice","score":25,"taskStats":{"Entr\\u00e9e (2)":{"points":20,"time":1769857200},' +
  '"42":{"points":5,"time":1769860800}},"lastAccept":1769860800},' +
  '{"pos":1,"team":"\\u00c9lodie \\"<b>\\"","score":25,"taskStats":{"Entr\\u00e9e (3)":{"points":20},' +
  '"42":{"points":5,"time":1}},"lastAccept":1},' +
  '{"pos":3,"team":"bob","score":10,"taskStats":{"__proto__":{"points":10}}}]}'

describe.each(engines)('GET /ctftime on %s', (engine) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(small, { engine })
  })
  afterAll(() => server.close())

  test('is the feed, byte for byte: shared places for ties, distinct names for translations, unknown values left out', async () => {
    const answer = await server.get('/ctftime')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    expect(answer.headers.get('content-disposition')).toBeNull()
    expect(await answer.text()).toBe(FEED)
  })

  test('is cached: repeated and concurrent requests read the portal once', async () => {
    const reads = () => server.store.state().reads.primary
    await importInto(server.store, [{ type: 'rubrique', id_rubrique: 2, nom: 'Deux' }])
    await waitForChanges(server)
    await server.get('/rubriques')
    const before = reads()
    const answers = await Promise.all(Array.from({ length: 20 }, () => server.get('/ctftime')))
    for (const answer of answers) expect([answer.status, await answer.text()]).toEqual([200, FEED])
    expect(reads() - before).toBe(1)
    const tag = answers[0]!.headers.get('etag')!
    const again = await server.get('/ctftime', { headers: { 'if-none-match': tag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect((await server.get('/ctftime', { method: 'HEAD' })).headers.get('etag')).toBe(tag)
    expect(reads() - before).toBe(1)
  })

  test('requires a credential unless the operator disables it', async () => {
    await problemOf(await server.anonymous('/ctftime'), 'credential_missing')
    const open = await startServer(small, {
      engine,
      settings: { openCtftime: true, rateLimit: 600, addressRateLimit: 3 },
    })
    const first = await open.anonymous('/ctftime')
    expect([first.status, first.headers.get('ratelimit-policy')]).toEqual([200, '"adresse";q=3;w=60'])
    expect(await first.text()).toBe(FEED)
    expect((await open.anonymous('/ctftime', { method: 'HEAD' })).status).toBe(200)
    await problemOf(await open.anonymous('/ctftime', { method: 'POST' }), 'method_not_allowed')
    await problemOf(await open.anonymous('/ctftime'), 'address_limited')
    expect((await open.get('/ctftime')).status).toBe(200)
    const { paths } = (await (await open.get('/openapi.json')).json()) as {
      paths: Record<string, { get: { security?: [] } }>
    }
    expect([paths['/ctftime']!.get.security, paths['/export']!.get.security]).toEqual([[], undefined])
    await open.close()
  })
})

describe.each(engines)('the feed of 1,500 authors on %s', (engine) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(generated, { engine })
  })
  afterAll(() => server.close())

  test.each([64, 0])('is derived from the dump as the contract says, with %i MB of cache', async (cacheMegabytes) => {
    const { app, url } = await serveStore(server.store, { settings: { cacheMegabytes } })
    const headers = { cookie: `api_key=${server.key}`, 'accept-encoding': 'gzip' }
    const answer = await fetch(`${url}/ctftime`, { headers })
    expect([answer.headers.get('content-encoding'), answer.headers.has('etag')]).toEqual(['gzip', cacheMegabytes > 0])
    const text = await answer.text()
    expect(text).toMatch(/^[ -~]*$/)
    expect(JSON.parse(text)).toEqual(expected)
    await app.close()
  })
})

test('challenge names are distinct, whatever the titles are', () => {
  const titles = ['A', 'A', 'A (2)', 'B', 'A (2) (3)', 'B (4)']
  const names = taskNames(titles.map((titre, i) => ({ id_challenge: i + 1, titre })))
  expect([...names.values()]).toEqual(['A (1)', 'A (2)', 'A (2) (3)', 'B', 'A (2) (3) (5)', 'B (4)'])
})

/** The same feed, computed from the lines of a dump. */
function feedOf(dump: DumpLine[]): unknown {
  const model = new Model(dump)
  const titles = model.challenges.map(({ titre }) => titre)
  const nameOf = new Map<unknown, string>(
    model.challenges.map(({ id_challenge, titre }) => {
      const isShared = titles.filter((other) => other === titre).length > 1
      return [id_challenge, isShared ? `${titre} (${id_challenge})` : titre]
    }),
  )
  const scores = new Map(model.challenges.map(({ id_challenge, score }) => [id_challenge, score]))
  const solves = new Map(model.classement.map(({ id_auteur }) => [id_auteur, [] as DumpLine[]]))
  for (const line of dump) if (line.type === 'validation') solves.get(line.id_auteur)?.push(line)
  return {
    tasks: [...nameOf.values()],
    standings: model.classement.map((row) => {
      const { id_auteur, nom, score } = row
      const own = solves.get(id_auteur)!
      const times = own.flatMap(({ date }) => (date ? [Math.floor(Date.parse(date as string) / 1000)] : []))
      const taskStats = Object.fromEntries(
        own.map(({ id_challenge, date }) => [
          nameOf.get(id_challenge),
          {
            points: scores.get(id_challenge),
            ...(date ? { time: Math.floor(Date.parse(date as string) / 1000) } : {}),
          },
        ]),
      )
      return {
        ...{ pos: model.place(row), team: nom, score, taskStats },
        ...(times.length > 0 ? { lastAccept: Math.max(...times) } : {}),
      }
    }),
  }
}
