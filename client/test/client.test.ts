import { inspect } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest'
import { portail, randomPortal } from '../../test/fixtures.js'
import { ACCOUNT, addAccount, addKey, startServer, type TestServer } from '../../test/harness.js'
import { type Body, type Fetch, Palmares, PalmaresError, type Row } from '../src/index.js'

let server: TestServer
let client: Palmares

beforeAll(async () => {
  server = await startServer(portail)
  client = new Palmares({ baseUrl: server.url, apiKey: server.key })
})

afterAll(() => server.close())

async function all<R>(rows: AsyncIterable<R>): Promise<R[]> {
  const found: R[] = []
  for await (const row of rows) found.push(row)
  return found
}

describe('reading', () => {
  test('returns the body of the response, with its type', async () => {
    const auteur = await client.get('/auteurs/{id_auteur}', { path: { id_auteur: 2 } })
    expect(auteur).toEqual(await server.json('/auteurs/2'))
    expectTypeOf(auteur.validations[0]!.date).toEqualTypeOf<string | null>()
    expectTypeOf<Row<'/classement'>>().toEqualTypeOf<{
      place: number
      nom: string
      score: string
      id_auteur: string
      position?: number
    }>()
    expectTypeOf<Row<'/groupes'>>().toEqualTypeOf<{ nom: string; nb_auteurs: number }>()
    expectTypeOf<Body<'/classement/regles'>['departage']>().toEqualTypeOf<'aucun' | 'date'>()
    expectTypeOf<Row<'/auteurs'>>().toEqualTypeOf<{ id_auteur: string; nom: string }>()
  })

  test('accepts an id as the text in which another response gave it', async () => {
    const [first] = (await client.page('/classement')).rows
    expect((await client.get('/auteurs/{id_auteur}', { path: { id_auteur: first!.id_auteur } })).nom).toBe(first!.nom)
  })

  test('sends every kind of filter: lists, numbers and text that must be escaped in a URL', async () => {
    const query = { 'id_auteur[]': [1, '4'], score: 25, titre: '% _c', lang: undefined }
    expect((await client.page('/challenges', { query })).rows.map(({ id_challenge }) => id_challenge)).toEqual([3])
    const ranked = await client.page('/classement', { query: { groupe: 'LYCéE b', autour_de: '12' } })
    expect(ranked.rows.map(({ place, id_auteur }) => [place, id_auteur])).toEqual([
      [1, '5'],
      [1, '12'],
    ])
    const named = await client.page('/auteurs', { query: { nom: 'zoé & c' } })
    expect(named.rows.map(({ id_auteur }) => id_auteur)).toEqual(['5'])
  })

  test('ranks 500 authors of long ids among themselves, page by page', async () => {
    const ids = [1, '2', 5, ...Array.from({ length: 497 }, (_, i) => 1_000_000_000 + i)]
    const rows = await all(client.iterate('/classement', { query: { 'id_auteur[]': ids, limite: 2 } }))
    expect(rows.map(({ place, id_auteur, position }) => [place, id_auteur, position])).toEqual([
      [1, '1', 1],
      [2, '2', 3],
      [3, '5', 8],
    ])
  })

  test('reads the groups and the rules of the rankings', async () => {
    expect((await client.page('/groupes')).rows).toEqual([
      { nom: 'LYCÉE B', nb_auteurs: 1 },
      { nom: 'Lycée B', nb_auteurs: 2 },
    ])
    expect(await client.get('/classement/regles')).toMatchObject({ departage: 'aucun' })
  })

  test('rejects at compile time paths, parameters and bodies that the API does not have', () => {
    const refused = () => [
      // @ts-expect-error there is no such path
      client.get('/auteur'),
      // @ts-expect-error the id is missing
      client.get('/auteurs/{id_auteur}'),
      // @ts-expect-error this list is not paged
      client.page('/rubriques'),
      // @ts-expect-error there is no such parameter
      client.page('/classement', { query: { limit: 3 } }),
      // @ts-expect-error a password is not allowed in a query
      client.get('/login', { query: { login: 'a', password: 'b' } }),
      // @ts-expect-error the password is missing
      client.post('/login', { body: { login: 'a' } }),
    ]
    expect(refused).toBeTypeOf('function')
  })
})

describe('pages', () => {
  test('a page has the total, its ETag and the addresses of its neighbours', async () => {
    const page = await client.page('/classement', { query: { limite: 4, debut_classement: 4 } })
    expect(page).toMatchObject({ total: 11, etag: expect.stringMatching(/^".+"$/) })
    expect(page.address).toBe(`${server.url}/classement?limite=4&debut_classement=4`)
    const debuts = [page.first, page.prev, page.next, page.last].map((each) =>
      new URL(each!).searchParams.get('debut_classement'),
    )
    expect(debuts).toEqual(['0', '0', '8', '8'])
  })

  test('the address of a page returns that page', async () => {
    const { next } = await client.page('/classement', { query: { limite: 4 } })
    const { rows, ...page } = await client.page('/classement', { address: next! })
    expect(rows).toEqual(await server.json('/classement?limite=4&debut_classement=4'))
    expect(page.next).toContain('debut_classement=8')
  })

  test('rows of /auteurs keep the order of their keys, also when there are more than ten', async () => {
    const { rows } = await client.page('/auteurs')
    const ids = rows.map(({ id_auteur }) => Number(id_auteur))
    expect(ids).toEqual(portail.filter(({ type }) => type === 'auteur').map(({ id_auteur }) => id_auteur))
  })

  test('iterate requests no page before it is needed, and stops at a break', async () => {
    const asked: string[] = []
    const fetch: Fetch = (url, init) => {
      asked.push(url)
      return globalThis.fetch(url, init)
    }
    const watched = new Palmares({ baseUrl: server.url, apiKey: server.key, fetch })
    let rows = 0
    for await (const _ of watched.iterate('/classement', { query: { limite: 4 } })) if (++rows === 5) break
    expect(asked).toHaveLength(2)
    rows = 0
    for await (const _ of watched.iterate('/classement', { query: { limite: 4 } })) if (++rows === 4) break
    expect(asked).toHaveLength(3)
  })

  test('iterate throws the error of a page, and stops when its signal aborts', async () => {
    const wrong = client.iterate('/challenges/{id_challenge}/validations', { path: { id_challenge: 999 } })
    await expect(wrong.next()).rejects.toMatchObject({ code: 'resource_not_found' })
    const controller = new AbortController()
    const rows = client.iterate('/classement', { query: { limite: 1 }, signal: controller.signal })
    await rows.next()
    controller.abort(new Error('enough'))
    await expect(rows.next()).rejects.toThrow('enough')
  })

  test('iterate returns every row once and in order, whatever the page size', async () => {
    const big = await startServer(randomPortal({ seed: 7, auteurs: 90, challenges: 40, validations: 250, scores: 6 }))
    const reader = new Palmares({ baseUrl: big.url, apiKey: big.key })
    const classement = await big.json<Row<'/classement'>[]>('/classement?limite=500')
    const auteurs = Object.values(await big.json<Body<'/auteurs'>>('/auteurs?limite=500'))
    const challenges = await big.json<Row<'/challenges'>[]>('/challenges?limite=500')
    const solved = challenges.toSorted((a, b) => b.nb_validations - a.nb_validations)[0]!.id_challenge
    const validations = await big.json(`/challenges/${solved}/validations?limite=500`)
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 120 }), async (limite) => {
        const query = { limite: Math.max(limite, 4) }
        expect(await all(reader.iterate('/classement', { query }))).toEqual(classement)
        expect(await all(reader.iterate('/auteurs', { query }))).toEqual(auteurs)
        expect(await all(reader.iterate('/challenges', { query }))).toEqual(challenges)
        const path = { id_challenge: solved }
        expect(await all(reader.iterate('/challenges/{id_challenge}/validations', { path, query }))).toEqual(
          validations,
        )
      }),
      { numRuns: 25 },
    )
    await big.close()
  })

  test('iterate with pages of one row returns the whole list', async () => {
    expect(await all(client.iterate('/classement', { query: { limite: 1 } }))).toEqual(await server.json('/classement'))
  })
})

describe('problems', () => {
  test('an error has the fields of the problem and a readable message', async () => {
    const error = await client.page('/classement', { query: { limite: 501 } }).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(PalmaresError)
    expect(error).toMatchObject({
      status: 400,
      code: 'invalid_parameter',
      title: 'Invalid parameter',
      errors: [{ parameter: 'limite', message: 'takes an integer from 1 to 500' }],
      requestId: expect.any(String),
      retryAfterSeconds: undefined,
    })
    expect(error.message).toBe(
      `limite takes an integer from 1 to 500. (400 invalid_parameter, request ${error.requestId})`,
    )
  })

  test('an address without remaining budget gets the time after which to retry', async () => {
    const limited = await startServer(portail, { settings: { rateLimit: 1 } })
    const reader = new Palmares({ baseUrl: limited.url, apiKey: limited.key, retries: 0 })
    await reader.get('/rubriques')
    await expect(reader.get('/rubriques')).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterSeconds: expect.any(Number),
    })
    await limited.close()
  })

  test('raw returns status, headers and the problem without throwing', async () => {
    const { error, response } = await client.raw.GET('/challenges/{id_challenge}', {
      params: { path: { id_challenge: 999 } },
    })
    expect([response.status, error?.code]).toEqual([404, 'resource_not_found'])
    const { data, response: list } = await client.raw.GET('/classement', { params: { query: { limite: 2 } } })
    expect([data?.length, list.headers.get('x-total-count')]).toEqual([2, '11'])
  })
})

describe('writing', () => {
  test('a session signs in, creates a key, revokes it and signs out', async () => {
    const session = new Palmares({ baseUrl: server.url, fetch: withCookies() })
    const { login, password } = ACCOUNT
    await expect(session.post('/login', { body: { login, password: 'wrong' } })).rejects.toMatchObject({
      code: 'login_refused',
    })
    expect((await session.post('/login', { body: { login, password } })).id_auteur).toBe('1')
    const { id, api_key } = await session.post('/cles_api', { body: { nom: 'robot' } })
    const robot = new Palmares({ baseUrl: server.url, apiKey: api_key })
    expect(await robot.get('/compte')).toMatchObject({ login, acces: 'cle', portee: ['lecture'] })
    expect(await session.delete('/cles_api/{id}', { path: { id } })).toBeUndefined()
    await expect(robot.get('/compte')).rejects.toMatchObject({ code: 'credential_revoked' })
    await session.delete('/login')
    await expect(session.get('/cles_api')).rejects.toMatchObject({ status: 401 })
  })

  test('validations are sent one by one or as lines, and the server reports the result of each', async () => {
    const own = await startServer(portail)
    await addAccount(own.store, { login: 'op', password: 'correct horse battery', idAuteur: 1, operator: true })
    const operator = new Palmares({
      baseUrl: own.url,
      apiKey: await addKey(own.store, 'op', { portee: ['ecriture'] }),
    })
    const line = { type: 'validation', id_auteur: 1, id_challenge: 3, date: '2026-01-31T12:00:00Z' } as const
    expect(await operator.post('/validations', { body: line })).toMatchObject({ appliquees: 1 })
    const lines = [line, { ...line, id_challenge: 5 }, { ...line, id_challenge: 777 }]
    const { lignes } = await operator.post('/validations', { body: lines })
    expect(lignes.map(({ resultat }) => resultat)).toEqual(['connue', 'appliquee', 'refusee'])
    const solved = await operator.get('/auteurs/{id_auteur}', { path: { id_auteur: 1 } })
    expect(solved.validations.map(({ id_challenge }) => id_challenge)).toEqual([3, 5])
    await own.close()
  })
})

describe('the key', () => {
  test('is not shown when the client is printed', () => {
    expect(inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client)).not.toContain(server.key.slice(5))
  })

  test('an invalid key is refused without being shown', () => {
    const make = () => new Palmares({ baseUrl: server.url, apiKey: 'palm_secret\n' })
    expect(make).toThrow('apiKey contains characters that an API key cannot have.')
  })

  test.each(['ftp://a/', 'nowhere', 'http://user:secret@a/', 'http://a/?key=secret', ''])(
    'an invalid base URL is refused without being shown: %s',
    (baseUrl) => {
      expect(() => new Palmares({ baseUrl })).toThrow(/^baseUrl must be an http or https URL/)
    },
  )

  test.each([{ retries: -1 }, { timeoutMilliseconds: 0 }, { maxWaitMilliseconds: Number.POSITIVE_INFINITY }])(
    'an option out of range is refused: %j',
    (options) => {
      expect(() => new Palmares({ baseUrl: server.url, ...options })).toThrow(RangeError)
    },
  )
})

/** A fetch that keeps one cookie, like a browser. */
function withCookies(): Fetch {
  let cookie = ''
  return async (url, init) => {
    expect(init.credentials).toBe('same-origin')
    const headers = new Headers(init.headers)
    if (cookie) headers.set('cookie', cookie)
    const response = await fetch(url, { ...init, headers })
    cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie
    return response
  }
}
