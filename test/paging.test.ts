import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { linksOf } from './compare.js'
import { portail } from './fixtures.js'
import { type DumpLine, engines, startServer, type TestServer } from './harness.js'

const LISTS = [
  ['/challenges', 'debut_challenges'],
  ['/auteurs', 'debut_auteurs'],
  ['/classement', 'debut_classement'],
  ['/environnements_virtuels', 'debut_environnements_virtuels'],
  ['/challenges/1/validations', 'debut_validations'],
] as const

describe.each(engines)('paging on %s', (engine) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(portail, { engine })
  })
  afterAll(() => server.close())

  /** The status, and the parameters that a 400 names. */
  async function refusal(target: string): Promise<unknown[]> {
    const response = await server.get(target)
    const { code, errors } = (await response.json()) as {
      code?: string
      errors?: { parameter: string; message: string }[]
    }
    for (const { message } of errors ?? []) expect(message).not.toBe('')
    return [response.status, code, ...(errors ?? []).map(({ parameter }) => parameter)]
  }

  describe('links', () => {
    test('are absolute, in one header: first, prev, next and last', async () => {
      const response = await server.get('/auteurs?limite=5&debut_auteurs=5')
      const page = `${server.url}/auteurs?limite=5&debut_auteurs=`
      expect(response.headers.get('link')).toBe(
        `<${page}0>; rel="first", <${page}0>; rel="prev", <${page}10>; rel="next", <${page}10>; rel="last"`,
      )
      expect(response.headers.get('x-total-count')).toBe('12')
    })

    test.each([
      [0, 5, { first: 0, next: 5, last: 10 }],
      [3, 5, { first: 0, prev: 0, next: 8, last: 10 }],
      [6, 5, { first: 0, prev: 1, next: 11, last: 10 }],
      [7, 5, { first: 0, prev: 2, last: 10 }],
      [10, 5, { first: 0, prev: 5, last: 10 }],
      [11, 5, { first: 0, prev: 6, last: 10 }],
      [12, 5, { first: 0, prev: 10, last: 10 }],
      [9_007_199_254_740_991, 5, { first: 0, prev: 10, last: 10 }],
      [0, 12, { first: 0, last: 0 }],
      [0, 11, { first: 0, next: 11, last: 11 }],
      [4, 4, { first: 0, prev: 0, next: 8, last: 8 }],
      [12, 4, { first: 0, prev: 8, last: 8 }],
      [0, 500, { first: 0, last: 0 }],
    ])(
      'links from row %i by %i of 12 lead only to existing pages, and past the end to the last one',
      async (debut, limite, expected) => {
        const links = linksOf(await server.get(`/auteurs?debut_auteurs=${debut}&limite=${limite}`))
        const rows = Object.entries(links).map(([rel, url]) => [
          rel,
          Number(new URL(url).searchParams.get('debut_auteurs')),
        ])
        expect(Object.fromEntries(rows)).toEqual(expected)
      },
    )

    test('an empty list has links to the first and last page, both at row 0', async () => {
      for (const debut of [0, 7]) {
        const response = await server.get(`/challenges?titre=introuvable&debut_challenges=${debut}`)
        const page = `${server.url}/challenges?titre=introuvable&debut_challenges=0`
        expect(linksOf(response)).toEqual({ first: page, last: page })
        expect(response.headers.get('x-total-count')).toBe('0')
      }
    })

    test.each(LISTS)('%s: every list is paged by its own offset', async (path, debutName) => {
      const whole = Object.values(await server.json<object>(path))
      expect(whole.length).toBeGreaterThan(2)
      const seen: unknown[] = []
      let next: string | undefined = `${server.url}${path}?limite=1`
      while (next !== undefined) {
        const response = await server.get(next.slice(server.url.length))
        expect(response.headers.get('x-total-count')).toBe(String(whole.length))
        seen.push(...Object.values((await response.json()) as object))
        next = linksOf(response).next
        if (next !== undefined) expect(new URL(next).searchParams.get(debutName)).toBe(String(seen.length))
      }
      expect(seen).toEqual(whole)
    })

    test('keep every filter and the page size, and drop parameters without effect', async () => {
      const query = 'titre=%25+%22%C3%A9%26&lang=fr&id_auteur[]=1&id_auteur%5B7%5D=2&soustitre=&inconnu=x&limite=1'
      const { first } = linksOf(await server.get(`/challenges?${query}&debut_challenges=4`))
      expect([...new URL(first as string).searchParams].sort()).toEqual([
        ['debut_challenges', '0'],
        ['id_auteur[]', '1'],
        ['id_auteur[]', '2'],
        ['lang', 'fr'],
        ['limite', '1'],
        ['titre', '% "é&'],
      ])
    })

    test('traverse a filtered list, each row once', async () => {
      const seen: number[] = []
      let next: string | undefined = '/challenges?score=10&id_auteur[]=2&id_auteur[]=1&limite=1'
      while (next !== undefined) {
        const response = await server.get(next)
        seen.push(...((await response.json()) as { id_challenge: number }[]).map((row) => row.id_challenge))
        next = linksOf(response).next?.slice(server.url.length)
      }
      expect(seen).toEqual([1, 2])
    })

    test('a page around an author has links with offsets, never with the author', async () => {
      const links = linksOf(await server.get('/classement?autour_de=8&limite=3'))
      const page = `${server.url}/classement?limite=3&debut_classement=`
      expect(links).toEqual({ first: `${page}0`, prev: `${page}1`, next: `${page}7`, last: `${page}9` })
    })

    test('keep a list of ids as it was sent, and leave out the least useful ones where all would be too long', async () => {
      const links = linksOf(await server.get('/auteurs?id_auteur=1,2,4&limite=1&debut_auteurs=1'))
      expect(Object.keys(links)).toEqual(['first', 'prev', 'next', 'last'])
      expect([...new URL(links.next as string).searchParams]).toContainEqual(['id_auteur[]', '1,2,4'])
      const ids = Array.from({ length: 500 }, (_, index) => 10_000_000 + index)
      const query = `id_auteur=1,2,4,${ids.slice(3)}&limite=1`
      const read = async (target: string) => {
        const response = await server.get(target)
        expect(response.headers.get('link')?.length).toBeLessThan(8_192)
        const [row] = (await response.json()) as { id_auteur: string }[]
        return { row: row?.id_auteur, links: linksOf(response) }
      }
      const seen = []
      let next: string | undefined = `/classement?${query}`
      while (next !== undefined) {
        const { row, links } = await read(next)
        seen.push(row)
        next = links.next?.slice(server.url.length)
      }
      const whole = await server.json<{ id_auteur: string }[]>('/classement?id_auteur=1,2,4')
      expect(seen).toEqual(whole.map(({ id_auteur }) => id_auteur))
    })

    test('exist only on lists', async () => {
      for (const path of ['/challenges/1', '/auteurs/1', '/rubriques', '/environnements_virtuels/1']) {
        const { headers } = await server.get(path)
        expect([headers.get('link'), headers.get('x-total-count')]).toEqual([null, null])
      }
    })
  })

  describe('parameters', () => {
    const notIntegers = ['-1', '1.5', '1.0', '%2B1', '1e3', '0x1', '01', '00', '%201', '1%20', '', 'x', 'NaN', 'null']
    const tooLong = ['9007199254740992', '9'.repeat(30), '1'.repeat(1_000)]
    const notAscii = ['%D9%A1', '%EF%BC%91', '1%00', '1%0A', '1,2']
    const notOffsets = [...notIntegers, ...tooLong, ...notAscii]

    test.each(LISTS)('%s: a malformed offset is a 400 that names it', async (path, debutName) => {
      for (const value of notOffsets) {
        expect([value, await refusal(`${path}?${debutName}=${value}`)]).toEqual([
          value,
          [400, 'invalid_parameter', debutName],
        ])
      }
      expect(await refusal(`${path}?${debutName}`)).toEqual([400, 'invalid_parameter', debutName])
    })

    test.each(LISTS)('%s: a page size that is malformed or not from 1 to 500 is a 400 that names it', async (path) => {
      for (const value of [...notOffsets, '0', '501', '1000']) {
        expect([value, await refusal(`${path}?limite=${value}`)]).toEqual([value, [400, 'invalid_parameter', 'limite']])
      }
      expect((await server.get(`${path}?limite=500`)).status).toBe(200)
    })

    test.each(['score', 'id_rubrique'])(
      '%s in another form is a 400 that names it, and an empty one filters nothing',
      async (name) => {
        for (const value of notOffsets.filter(Boolean)) {
          expect([value, await refusal(`/challenges?${name}=${value}`)]).toEqual([
            value,
            [400, 'invalid_parameter', name],
          ])
        }
        expect((await server.get(`/challenges?${name}=`)).status).toBe(200)
      },
    )

    test('a malformed author id, or more than 100 of them, is a 400 that names it', async () => {
      const notIds = notOffsets.filter((value) => value !== '' && value !== '1,2')
      for (const value of [
        ...notIds,
        '0',
        ...notIds.map((each) => `2,${each}`),
        ',',
        '1,',
        ',1',
        '1,,2',
        '1,%202',
        '1;2',
      ]) {
        for (const name of ['id_auteur[]', 'id_auteur', 'id_auteur[3]']) {
          expect([value, await refusal(`/challenges?id_auteur[]=1&${name}=${value}`)]).toEqual([
            value,
            [400, 'invalid_parameter', 'id_auteur[]'],
          ])
        }
      }
    })

    test.each([
      ['/challenges', 100],
      ['/auteurs', 100],
      ['/classement', 500],
    ])(
      '%s: more than %i author ids are a 400 that names the parameter and the limit, however they are written',
      async (list, max) => {
        const idsTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
        const written: ((ids: number[]) => string)[] = [
          (ids) => `id_auteur=${ids}`,
          (ids) => `id_auteur[]=${ids.join('%2C')}`,
          (ids) => ids.map((id) => `id_auteur=${id}`).join('&'),
          ([first, ...ids]) => `id_auteur[7]=${ids}&id_auteur[]=${first}`,
        ]
        for (const write of written) {
          expect((await server.get(`${list}?${write(idsTo(max))}`)).status).toBe(200)
          const response = await server.get(`${list}?${write(idsTo(max + 1))}`)
          expect(response.status).toBe(400)
          const { errors } = (await response.json()) as { errors: unknown }
          expect(errors).toEqual([{ parameter: 'id_auteur[]', message: `takes at most ${max} values, not ${max + 1}` }])
        }
      },
    )

    test('author ids separated by commas mean the same as repeated ones, and an id that is repeated counts once', async () => {
      for (const list of ['/challenges', '/auteurs', '/classement']) {
        const response = await server.get(`${list}?id_auteur[]=1&id_auteur[]=2&id_auteur[]=4`)
        const expected = [response.headers.get('x-total-count'), await response.json()]
        const same = [
          'id_auteur=1,2,4',
          'id_auteur=4%2C2,1',
          'id_auteur[]=2,1&id_auteur=4&id_auteur[0]=',
          'id_auteur=4,2,4,1,2,4',
        ]
        for (const query of same) {
          const again = await server.get(`${list}?${query}`)
          expect([query, again.headers.get('x-total-count'), await again.json()]).toEqual([query, ...expected])
        }
      }
    })

    test('a parameter given twice with different values is a 400 that names it, with equal values it counts once', async () => {
      for (const [path, name] of LISTS) {
        expect(await refusal(`${path}?${name}=1&${name}=2`)).toEqual([400, 'invalid_parameter', name])
        expect(await refusal(`${path}?limite=1&limite=2`)).toEqual([400, 'invalid_parameter', 'limite'])
        expect(await server.json(`${path}?${name}=1&${name}=1`)).toEqual(await server.json(`${path}?${name}=1`))
      }
      expect(await refusal('/challenges?titre=a&titre=b')).toEqual([400, 'invalid_parameter', 'titre'])
      expect(await refusal('/auteurs?lang=fr&lang=')).toEqual([400, 'invalid_parameter', 'lang'])
      expect(await refusal('/challenges?score=1&score=01')).toEqual([400, 'invalid_parameter', 'score'])
    })

    test.each([
      ['/challenges', 'titre'],
      ['/challenges', 'soustitre'],
      ['/challenges', 'lang'],
      ['/auteurs', 'nom'],
      ['/auteurs', 'statut'],
      ['/auteurs', 'lang'],
      ['/environnements_virtuels', 'nom'],
      ['/environnements_virtuels', 'os'],
    ])('%s: the text %s accepts 100 code points of UTF-8 without NUL', async (path, name) => {
      for (const value of ['a'.repeat(101), 'é'.repeat(101), '😀'.repeat(101), 'e\u0301'.repeat(51), 'a\0b', '\0']) {
        const target = `${path}?${name}=${encodeURIComponent(value)}`
        expect([value, await refusal(target)]).toEqual([value, [400, 'invalid_parameter', name]])
      }
      for (const value of ['%', '%z', '%zz', '%E9', '%C3', '%C0%80', '%ED%A0%80', '%F5%80%80%80', 'a%2']) {
        expect([value, await refusal(`${path}?${name}=${value}`)]).toEqual([value, [400, 'invalid_parameter', name]])
      }
      for (const value of ['', 'a'.repeat(100), '😀'.repeat(100), 'e\u0301'.repeat(50), '\u007f', '\t\n', '"\'%_\\']) {
        expect((await server.get(`${path}?${name}=${encodeURIComponent(value)}`)).status).toBe(200)
      }
    })

    test('every invalid parameter is listed at once', async () => {
      const target = '/challenges?limite=0&debut_challenges=-1&score=x'
      const [status, code, ...names] = await refusal(target)
      expect([status, code, names.sort()]).toEqual([400, 'invalid_parameter', ['debut_challenges', 'limite', 'score']])
    })

    test('parameter names are percent-decoded, and unknown ones are ignored', async () => {
      const page = await server.json('/challenges?debut_challenges=2')
      expect(await server.json('/challenges?debut%5Fchallenges=2')).toEqual(page)
      const ignored = 'debut_auteurs=-1&Limite=x&nom=%00&&=&__proto__=1&id_auteur[x]=0&id_auteurs=0&autour_de='
      expect(await server.json(`/challenges?${ignored}&debut_challenges=2`)).toEqual(page)
    })
  })

  test.each([
    ['/challenges/', '/challenges'],
    ['//challenges', '/challenges'],
    ['/challenges//1', '/challenges/1'],
    ['///challenges///1///', '/challenges/1'],
    ['/challenges/1//validations/', '/challenges/1/validations'],
    ['/auteurs//2/', '/auteurs/2'],
    ['//classement/?limite=2', '/classement?limite=2'],
  ])('%s is served as %s, and its links work', async (path, plain) => {
    const response = await server.get(path)
    expect([response.status, await response.text()]).toEqual([200, await (await server.get(plain)).text()])
    for (const link of Object.values(linksOf(response))) {
      expect((await server.get(link.slice(server.url.length))).status).toBe(200)
    }
  })
})

describe.each(engines)('a search with many matches on %s', (engine) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(joueurs(), { engine })
  })
  afterAll(() => server.close())

  test.each([
    ['nom=joueur', undefined],
    ['nom=j', undefined],
    ['nom=mille', '1000'],
    ['nom=mi', '1000'],
    ['nom=mille%20et', '999'],
    ['lang=fr', '1201'],
    ['nom=%CC%81', '2201'],
    ['nom=joueur&lang=fr', undefined],
    ['nom=joueur&statut=pair', '600'],
    ['nom=j&statut=pair', '600'],
    ['', '2201'],
  ])('%s: the total is exact, for a text up to 1,000 only, and last is present only with it', async (query, total) => {
    for (const debut of [0, 50]) {
      const response = await server.get(`/auteurs?${query}&debut_auteurs=${debut}`)
      expect(response.headers.get('x-total-count')).toBe(total ?? null)
      expect('last' in linksOf(response)).toBe(total !== undefined)
    }
  })

  test.each(['joueur', 'j'])('next leads to the end when the total of "%s" is not given', async (needle) => {
    const seen: string[] = []
    let next: string | undefined = `/auteurs?nom=${needle}&limite=400`
    while (next !== undefined) {
      const response = await server.get(next)
      expect(response.headers.get('x-total-count')).toBeNull()
      seen.push(...Object.values((await response.json()) as Record<string, { nom: string }>).map(({ nom }) => nom))
      next = linksOf(response).next?.slice(server.url.length)
    }
    expect(seen).toEqual(Array.from({ length: 1_200 }, (_, index) => `Joueur ${index}`))
  })

  test.each(['joueur', 'j'])('past the end of "%s" the page is empty and prev is the last page', async (needle) => {
    for (const debut of [1_200, 5_000, Number.MAX_SAFE_INTEGER]) {
      const response = await server.get(`/auteurs?nom=${needle}&limite=500&debut_auteurs=${debut}`)
      expect(await response.text()).toBe('{}')
      const { prev, next } = linksOf(response)
      expect(next).toBeUndefined()
      expect(new URL(prev as string).searchParams.get('debut_auteurs')).toBe('1000')
    }
  })
})

/** alice; 1,200 authors of one name, half of them `pair`; 1,000 of another name, one of them slightly different. */
function* joueurs(): Generator<DumpLine> {
  yield { type: 'auteur', id_auteur: 1, nom: 'alice', lang: 'fr' }
  for (let index = 0; index < 1_200; index++) {
    const statut = index % 2 === 0 ? 'pair' : 'impair'
    yield { type: 'auteur', id_auteur: 2 + index, nom: `Joueur ${index}`, lang: 'fr', statut }
  }
  for (let index = 0; index < 1_000; index++) {
    yield { type: 'auteur', id_auteur: 5_000 + index, nom: index === 0 ? 'Mille' : `Mille et ${index}`, lang: 'en' }
  }
}
