import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { portail } from '../../test/fixtures.js'
import {
  addAccount,
  addKey,
  type DumpLine,
  engines,
  importInto,
  OPERATOR,
  startServer,
  type TestServer,
} from '../../test/harness.js'
import { dialectErrorOf, exchange, parseAnswer } from '../../test/wire.js'
import { catalogue } from '../errors.js'

/** 130 authors after those of the fixture, 120 of them with one name, and 205 who solved one challenge. */
const crowd: DumpLine[] = Array.from({ length: 205 }, (_, i) => ({
  type: 'auteur',
  id_auteur: 1_000 + i,
  nom: i < 120 ? `Joueur ${i}` : `autre ${i}`,
  statut: '6forum',
}))
const solves: DumpLine[] = crowd.map(({ id_auteur }, i) => ({
  type: 'validation',
  id_auteur,
  id_challenge: 4,
  date: i % 10 === 0 ? null : new Date(Date.UTC(2025, 5, 1) + i * 60_000).toISOString(),
}))

type Body = [Record<string, Record<string, unknown>>, ...{ rel: string; href: string }[]]

describe.each(engines)('the dialect on %s', (engine) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer([...portail, ...crowd, ...solves], { engine })
  })
  afterAll(() => server.close())

  const json = (path: string) => server.json<Body>(path)
  const links = async (path: string) => {
    const [, ...found] = await json(path)
    return Object.fromEntries(found.map(({ rel, href }) => [rel, href.replace(server.url, '')]))
  }

  describe('bodies', () => {
    test('an item of a list has the fields of the dialect in order, all as text except place', async () => {
      const first = async (path: string) => JSON.stringify((await json(path))[0]['0'])
      expect(await first('/rootme/challenges')).toBe(
        `{"id_challenge":"1","id_rubrique":"1","titre":"L'entrée","lang":"fr","date_publication":"2025-01-31 13:00:00","maj":"2025-01-31 13:00:00"}`,
      )
      expect(await first('/rootme/auteurs')).toBe('{"id_auteur":"1","nom":"alice"}')
      expect(await first('/rootme/classement')).toBe('{"place":1,"id_auteur":"1","nom":"alice","score":"120"}')
      expect(await first('/rootme/environnements_virtuels')).toBe('{"id_environnement_virtuel":"1","nom":"Clairière"}')
    })

    test('a challenge is an array whose first element has its authors and validations, the latest first', async () => {
      expect(await server.json('/rootme/challenges/1')).toEqual([
        {
          titre: "L'entrée",
          rubrique: 'Réseau & câbles',
          soustitre: 'Où est le drapeau ?',
          score: '10',
          index_challenge: '1',
          id_rubrique: '1',
          id_trad: '1',
          url_challenge: 'fr/Challenges/Reseau/Entree',
          date_publication: '2025-01-31 13:00:00',
          maj: '2025-01-31 13:00:00',
          difficulte: 'Très facile',
          auteurs: { 0: { id_auteur: '2', nom: 'Élodie 😀' }, 1: { id_auteur: '4', nom: 'Σίσυφος' } },
          validations: {
            0: { id_auteur: '9', date: '2025-03-02 09:00:00' },
            1: { id_auteur: '2', date: '2025-03-02 09:00:00' },
            2: { id_auteur: '6', date: '2025-03-01 09:00:00' },
            3: { id_auteur: '10', date: '' },
            4: { id_auteur: '8', date: '' },
          },
        },
      ])
    })

    test('an unknown value is a text too: no date, no translation, no path, no solver', async () => {
      const [{ url_challenge, id_trad, date_publication, maj, validations, auteurs }] =
        await json('/rootme/challenges/90')
      expect({ url_challenge, id_trad, date_publication, maj, validations, auteurs }).toEqual({
        url_challenge: 'challenges/90',
        id_trad: '1',
        date_publication: '',
        maj: '',
        validations: {},
        auteurs: {},
      })
      expect((await json('/rootme/challenges/4'))[0].id_trad).toBe('0')
      expect((await json('/rootme/challenges/3'))[0].url_challenge).toBe('https://ailleurs.example/defi?x=1&y=2')
    })

    test('an author is a bare object, with position as a number and a rang even at 0 points', async () => {
      const nobody = { id_auteur: '40', nom: '日本語', statut: '', logo_url: '', score: '0' }
      expect(await server.json('/rootme/auteurs/40')).toEqual({
        ...nobody,
        position: 11,
        rang: 'visitor',
        membre: 'false',
        challenges: [],
        solutions: [],
        validations: [],
      })
      const { validations, challenges, rang, score } = await server.json<Record<string, unknown>>('/rootme/auteurs/2')
      expect({ validations, challenges, rang, score }).toEqual({
        score: '70',
        rang: 'curious',
        challenges: [
          { id_challenge: '1', titre: "L'entrée", url_challenge: 'fr/Challenges/Reseau/Entree' },
          { id_challenge: '2', titre: 'The entrance', url_challenge: 'en/Challenges/Network/Entrance' },
          { id_challenge: '5', titre: 'Œuf 😀\u007f', url_challenge: 'challenges/5' },
        ],
        validations: [
          { id_challenge: '3', titre: '100 % _coton_ "pur"', id_rubrique: '2', date: '2025-03-03 10:30:59' },
          { id_challenge: '1', titre: "L'entrée", id_rubrique: '1', date: '2025-03-02 09:00:00' },
          { id_challenge: '2', titre: 'The entrance', id_rubrique: '1', date: '2025-03-02 09:00:00' },
          { id_challenge: '5', titre: 'Œuf 😀\u007f', id_rubrique: '2', date: '' },
        ],
      })
    })

    test('a virtual environment is an array of one element', async () => {
      expect(await server.json('/rootme/environnements_virtuels/3')).toEqual([
        {
          id_environnement_virtuel: '3',
          nom: 'Forêt',
          description_fr: '<p>Une forêt.</p>',
          description_en: 'A "forest".',
          time_to_root: '3600',
          os: 'Windows',
        },
      ])
      expect((await json('/rootme/environnements_virtuels/1'))[0].time_to_root).toBe('')
      expect((await json('/rootme/environnements_virtuels/20'))[0].time_to_root).toBe('0')
    })

    test('text is ASCII with lower-case escapes', async () => {
      expect(await (await server.get('/rootme/auteurs/2')).text()).toContain('"nom":"\\u00c9lodie \\ud83d\\ude00"')
    })
  })

  describe('pages', () => {
    const total = 12 + crowd.length

    test('a page has 50 rows and links to its neighbours, the previous one first', async () => {
      const [rows, ...found] = await json('/rootme/auteurs?debut_auteurs=50')
      expect(Object.keys(rows)).toEqual(Array.from({ length: 50 }, (_, i) => String(i)))
      expect(found).toEqual([
        { rel: 'previous', href: `${server.url}/rootme/auteurs?debut_auteurs=0` },
        { rel: 'next', href: `${server.url}/rootme/auteurs?debut_auteurs=100` },
      ])
      expect((await server.get('/rootme/auteurs')).headers.get('x-total-count')).toBe(String(total))
    })

    test('the first page has no previous link, the last no next link, and a single page neither', async () => {
      expect(await links('/rootme/auteurs')).toEqual({ next: '/rootme/auteurs?debut_auteurs=50' })
      expect(await links('/rootme/auteurs?debut_auteurs=200')).toEqual({
        previous: '/rootme/auteurs?debut_auteurs=150',
      })
      expect(await links('/rootme/challenges')).toEqual({})
    })

    test('an offset may be any row, and a link never goes before the first', async () => {
      expect((await json('/rootme/auteurs?debut_auteurs=13'))[0]['0']).toEqual({ id_auteur: '1001', nom: 'Joueur 1' })
      expect(await links('/rootme/auteurs?debut_auteurs=13')).toEqual({
        previous: '/rootme/auteurs?debut_auteurs=0',
        next: '/rootme/auteurs?debut_auteurs=63',
      })
    })

    test.each([total, total + 1, 9_999_999, '9'.repeat(30)])(
      'row %s past the end returns the last page',
      async (row) => {
        const last = `/rootme/auteurs?debut_auteurs=${Math.floor((total - 1) / 50) * 50}`
        expect(await json(`/rootme/auteurs?debut_auteurs=${row}`)).toEqual(await json(last))
      },
    )

    test('links keep the filters, before the offset, and no other parameters', async () => {
      expect(await links('/rootme/auteurs?x=1&nom=jou%65ur&limite=3&debut_auteurs=9999&lang=')).toEqual({
        previous: '/rootme/auteurs?nom=joueur&debut_auteurs=50',
      })
      expect(await links('/rootme/auteurs?statut=6FORUM&nom=joueur')).toEqual({
        next: '/rootme/auteurs?nom=joueur&statut=6FORUM&debut_auteurs=50',
      })
    })

    test('the validations of a challenge have pages of 100, with unknown dates last', async () => {
      const read = async (debut: number | string) => {
        const [{ validations }, ...found] = await json(`/rootme/challenges/4?debut_validations=${debut}`)
        const rows = Object.values(validations as unknown as Record<string, { id_auteur: string; date: string }>)
        return { ids: rows.map(({ id_auteur }) => Number(id_auteur)), found: found.map(({ rel }) => rel) }
      }
      const ids = crowd.map(({ id_auteur }) => id_auteur as number).reverse()
      const isUndated = (id: number) => id % 10 === 0
      const expected = [...ids.filter((id) => !isUndated(id)), ...ids.filter(isUndated)]
      expect(await read(0)).toEqual({ ids: expected.slice(0, 100), found: ['next'] })
      expect(await read(130)).toEqual({ ids: expected.slice(130), found: ['previous'] })
      expect(await read(9_999_999)).toEqual({ ids: expected.slice(200), found: ['previous'] })
      expect(await links('/rootme/challenges/90?debut_validations=100')).toEqual({})
      expect(await links('/rootme/challenges/4?debut_validations=100&nom=x')).toEqual({
        previous: '/rootme/challenges/4?debut_validations=0',
        next: '/rootme/challenges/4?debut_validations=200',
      })
    })
  })

  describe('lenient parsing', () => {
    test.each([
      '/rootme/auteurs/2/',
      '//rootme///auteurs//2//',
      '/rootme/auteurs/2?_=1700000000',
      '/rootme/auteurs/2"',
      '/rootme/auteurs/2%22',
      '/rootme/auteurs/0002',
      '/rootme/auteurs/2%',
      '/rootme/auteurs/2%E9',
      '/rootme/auteurs/2%2Fx',
      '/rootme/auteurs/2/x',
      '/rootme/auteurs/2/challenges/5',
      '/rootme/auteurs/2"/x/?debut_validations=9',
      '/rootme/auteurs/2?nom=%zz',
    ])('%s is author 2', async (path) => {
      expect(await server.json<Body>(path)).toMatchObject({ id_auteur: '2' })
    })

    test.each([
      '/rootme/./auteurs/2',
      '/rootme/x/../auteurs/2',
      '/rootme/x/%2E%2E/auteurs/2',
      '/rootme/x/.%2e/./%2E/auteurs//%2e/2/',
      '/rootme/../auteurs/2',
      '/rootme/%2e%2e/%2E%2E/auteurs/2',
      '//rootme//x//..//auteurs//2',
      '/rootme/auteurs/1/../2',
      'http://elsewhere.example/rootme/x/../auteurs/2',
    ])('dot segments are resolved below the prefix, so that %s is author 2', async (path) => {
      const bytes = `GET ${path} HTTP/1.1\r\nHost: a\r\nCookie: api_key=${server.key}\r\nConnection: close\r\n\r\n`
      const answer = parseAnswer(await exchange(server.url, bytes))
      expect([answer.status, await answer.json()]).toMatchObject([200, { id_auteur: '2' }])
    })

    test.each([
      '/rootme/../login',
      '/rootme/../../health/live',
      '/rootme/%2e%2e/openapi.json',
      '/rootme/%252e%252e/auteurs',
    ])('dot segments never leave the prefix: %s stays in the dialect', async (path) => {
      const bytes = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
      const answer = parseAnswer(await exchange(server.url, bytes))
      await dialectErrorOf(answer, path.endsWith('login') ? 400 : 401)
    })

    test.each([
      ['/rootme/auteurs?nom=%E9lodie', 3],
      ['/rootme/auteurs?nom=%C3%89LODIE', 3],
      ['/rootme/auteurs?nom=a%', 1],
      ['/rootme/auteurs?nom=50%25', 1],
      ['/rootme/auteurs?nom=zzz&nom=alice', 1],
      ['/rootme/challenges?score=010', 3],
      ['/rootme/challenges?score=10"', 3],
      ['/rootme/challenges?id_auteur[]=4', 2],
      ['/rootme/challenges?id_auteur%5B0%5D=4&id_auteur=1', 2],
      ['/rootme/challenges?lang=Fr&debut_challenges=x', 2],
    ])('%s finds %i', async (path, count) => {
      expect(Object.keys((await json(path))[0])).toHaveLength(count)
    })
  })

  describe('errors', () => {
    test.each([
      '/rootme/auteurs?nom=personne',
      '/rootme/auteurs?nom=personne&debut_auteurs=50',
      '/rootme/challenges?score=12345',
      '/rootme/challenges?lang=xx&debut_challenges=9999999',
      '/rootme/environnements_virtuels?os=plan9',
      '/rootme/challenges/999',
      '/rootme/auteurs/x',
      '/rootme/auteurs/-1',
      '/rootme/auteurs/99999999999999999999',
      '/rootme/challenges/0?debut_validations=1',
      '/rootme/environnements_virtuels/999',
      '/rootme',
      '/rootme/',
      '/rootme/nulle-part',
      '//rootme//nulle-part',
      '/rootme/auteurs/x/1',
      '/rootme/classement/1',
      '/rootme/%zz',
      '/rootme/rubriques',
    ])('%s is 404', async (path) => {
      await dialectErrorOf(await server.get(path), 404)
    })

    test.each([
      ['/rootme/challenges?score=abc', /^score takes an integer/],
      ['/rootme/challenges?id_auteur[]=x', /^id_auteur\[\] takes an identifier/],
      [`/rootme/challenges?titre=${'a'.repeat(101)}`, /^titre takes at most 100 characters/],
      ['/rootme/auteurs?nom=%00', /^nom takes text without NUL/],
      [`/rootme/challenges?${'id_auteur[]=1&'.repeat(101)}`, /^id_auteur\[\] takes at most 100 values, not 101/],
    ])('a value whose form cannot match anything is a 400 that names it: %.40s', async (path, message) => {
      expect(await dialectErrorOf(await server.get(path), 400)).toMatch(message)
    })

    test('405 lists the allowed methods, and 414 and a malformed Host use the envelope too', async () => {
      const refused = await server.get('/rootme/auteurs/1', { method: 'DELETE' })
      expect(refused.headers.get('allow')).toBe('GET, HEAD')
      await dialectErrorOf(refused, 405)
      await dialectErrorOf(await server.get(`/rootme/auteurs?x=${'a'.repeat(9_000)}`), 414)
      const bytes = 'GET /rootme/auteurs HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n'
      expect(await dialectErrorOf(parseAnswer(await exchange(server.url, bytes)), 400)).toMatch(/^host /)
    })

    test('401 comes before 404, 405 and any check of the query', async () => {
      for (const path of [
        '/rootme',
        '/rootme/nulle-part',
        '/rootme/auteurs/x',
        '/rootme/challenges?score=abc',
        '/rootme/%zz',
      ])
        await dialectErrorOf(await server.anonymous(path), 401)
      await dialectErrorOf(await server.anonymous('/rootme/auteurs', { method: 'POST' }), 401)
    })

    test('paths of the contract keep its own errors, also for encodings and slashes', async () => {
      for (const path of ['/auteurs/%zz', '//auteurs/%zz', '/rootmes/%zz']) {
        const response = await server.get(path)
        expect([response.status, response.headers.get('content-type')]).toEqual([400, 'application/problem+json'])
      }
    })
  })

  describe('features shared with the contract', () => {
    test('a response has an ETag, is revalidated with 304 and has the same headers for HEAD', async () => {
      for (const path of ['/rootme/classement', '/rootme/challenges/1', '/rootme/auteurs/1']) {
        const { headers } = await server.get(path)
        const etag = headers.get('etag')!
        expect(headers.get('cache-control')).toBe('private, no-cache')
        const again = await server.get(path, { headers: { 'if-none-match': etag } })
        expect([again.status, await again.text()]).toEqual([304, ''])
        const head = await server.get(path, { method: 'HEAD' })
        expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, ''])
      }
    })

    test('a response is cached, even for a client that sends a different number with each request', async () => {
      const hits = async () => {
        const counts = (await server.metrics.registry.getMetricsAsJSON()).find(({ name }) => name.includes('cache'))!
        return counts.values.find(({ labels }) => labels.result === 'hit')!.value
      }
      await server.get('/rootme/auteurs/3?t=0')
      const before = await hits()
      for (let t = 1; t <= 5; t++) expect((await server.get(`/rootme/auteurs/3?t=${t}`)).status).toBe(200)
      expect(await hits()).toBe(before + 5)
    })

    test('the log and the metrics contain the route, never the path or query', async () => {
      await server.get('/rootme/auteurs/12?nom=secret')
      const line = server.log.findLast((each) => each.includes('/rootme/auteurs/:id'))
      expect(line).toBeDefined()
      expect(server.log.some((each) => each.includes('secret'))).toBe(false)
      expect(await server.metrics.registry.metrics()).toContain('route="/rootme/auteurs/:id"')
    })

    test('each response shows the data of the last change', async () => {
      const title = async () => (await json('/rootme/challenges'))[0]['3']
      expect(await title()).toMatchObject({ id_challenge: '4', titre: 'Nu' })
      await importInto(server.store, [{ type: 'challenge', id_challenge: 4, id_rubrique: 2, titre: 'Neuf', score: 0 }])
      expect(await title()).toMatchObject({ id_challenge: '4', titre: 'Neuf' })
      expect((await json('/rootme/challenges/4'))[0].titre).toBe('Neuf')
      await importInto(server.store, [{ type: 'challenge', id_challenge: 4, id_rubrique: 2, titre: 'Nu', score: 0 }])
    })
  })
})

test.each(engines)('a solve sent while the server runs on %s is in the next responses', async (engine) => {
  const server = await startServer(portail, { engine })
  await addAccount(server.store, OPERATOR)
  const cookie = `api_key=${await addKey(server.store, OPERATOR.login, { portee: ['ecriture'] })}`
  const score = async () => (await server.json<{ score: string }>('/rootme/auteurs/5')).score
  const solvers = async () => Object.values((await server.json<Body>('/rootme/challenges/3'))[0].validations!)
  const ranked = async () =>
    Object.values((await server.json<Body>('/rootme/classement'))[0]).find(({ id_auteur }) => id_auteur === '5')
  expect([await score(), await ranked(), await solvers()]).toMatchObject([
    '30',
    { place: 8, score: '30' },
    { length: 1 },
  ])
  const line = { type: 'validation', id_auteur: 5, id_challenge: 3, date: '2026-07-01T10:00:00Z' }
  const headers = { cookie, 'content-type': 'application/x-ndjson' }
  const sent = await server.anonymous('/validations', { method: 'POST', headers, body: `${JSON.stringify(line)}\n` })
  expect(sent.status).toBe(200)
  expect([await score(), await ranked()]).toMatchObject(['55', { place: 7, score: '55' }])
  expect((await solvers())[0]).toEqual({ id_auteur: '5', date: '2026-07-01 12:00:00' })
  await server.close()
})

describe('the dialect in other settings', () => {
  let server: TestServer
  afterAll(() => server.close())

  test('links start with --public-url, including its prefix', async () => {
    server = await startServer([...portail, ...crowd], { settings: { publicUrl: 'https://api.example/palmares/' } })
    const [, next] = await server.json<Body>('/rootme/auteurs')
    expect(next).toEqual({ rel: 'next', href: 'https://api.example/palmares/rootme/auteurs?debut_auteurs=50' })
  })

  test('a cached response has the links of the requested host', async () => {
    const place = await startServer([...portail, ...crowd])
    const nextAt = async (host: string) => {
      const head = `GET /rootme/auteurs HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nCookie: api_key=${place.key}\r\n`
      const [, next] = (await parseAnswer(await exchange(place.url, `${head}\r\n`)).json()) as Body
      return next?.href
    }
    expect(await nextAt('un.example')).toBe('http://un.example/rootme/auteurs?debut_auteurs=50')
    expect(await nextAt('deux.example')).toBe('http://deux.example/rootme/auteurs?debut_auteurs=50')
    await place.close()
  })

  test.each([
    [0, 'visitor'],
    [1, 'curious'],
    [199, 'curious'],
    [200, 'trainee'],
    [500, 'insider'],
    [1_000, 'enthusiast'],
    [2_500, 'hacker'],
    [5_000, 'elite'],
    [9_999, 'elite'],
    [10_000, 'legend'],
  ])('%i points are the rang %s', async (score, rang) => {
    await importInto(server.store, [{ type: 'auteur', id_auteur: 7_777, nom: 'x', score }])
    expect(await server.json('/rootme/auteurs/7777')).toMatchObject({ score: String(score), rang })
  })

  test('the budget is that of the account, a 304 is free, and an exceeded budget is a 429', async () => {
    const limited = await startServer(portail, { settings: { rateLimit: 3, addressRateLimit: 1 } })
    const first = await limited.get('/rootme/auteurs/1')
    expect(first.headers.get('ratelimit')).toMatch(/^"compte";r=2;/)
    await limited.get('/rootme/auteurs/1', { headers: { 'if-none-match': first.headers.get('etag')! } })
    expect((await limited.get('/auteurs/1')).headers.get('ratelimit')).toMatch(/^"compte";r=1;/)
    expect((await limited.get('/rootme/classement')).status).toBe(200)
    await dialectErrorOf(await limited.get('/rootme/classement'), 429)
    await dialectErrorOf(await limited.anonymous('/rootme/classement'), 401)
    await dialectErrorOf(await limited.anonymous('/rootme/classement'), 429)
    await limited.close()
  })

  test('an internal error is a 500 without details', async () => {
    const broken = await startServer(portail)
    await broken.store.write({}, (db) => db.exec('alter table environnements_virtuels rename to ailleurs'))
    const message = await dialectErrorOf(await broken.get('/rootme/environnements_virtuels/1'), 500)
    expect(message).toBe(catalogue.internal_error.detail)
    await broken.close()
  })

  test('an unreachable store is a 503', async () => {
    const lost = await startServer(portail)
    await lost.store.close()
    const message = await dialectErrorOf(await lost.get('/rootme/auteurs?nom=alice'), 503)
    expect(message).toBe(catalogue.store_unavailable.detail)
    await lost.app.close()
  })

  test('pages of the origins that the operator lists can read it', async () => {
    const open = await startServer(portail, { settings: { corsOrigin: ['https://ami.example'] } })
    const { headers } = await open.get('/rootme/auteurs/1', { headers: { origin: 'https://ami.example' } })
    expect(headers.get('access-control-allow-origin')).toBe('https://ami.example')
    await open.close()
  })
})
