import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { portail } from '../../test/fixtures.js'
import { engines, startServer, type TestServer } from '../../test/harness.js'

describe.each(engines)('challenges on %s', (engine) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(portail, { engine })
  })
  afterAll(() => server.close())

  const text = async (path: string) => (await server.get(path)).text()
  const found = async (query: string) => {
    const rows = await server.json<{ id_challenge: number }[]>(`/challenges?${query}`)
    return rows.map((row) => row.id_challenge)
  }

  describe('the list', () => {
    test('has its fields in one order, numbers as numbers, in ASCII, by id', async () => {
      const response = await server.get('/challenges?limite=3')
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(await response.text()).toBe(
        [
          String.raw`[{"id_challenge":1,"titre":"L'entr\u00e9e","soustitre":"O\u00f9 est le drapeau ?","lang":"fr",`,
          String.raw`"score":10,"id_rubrique":1,"rubrique":"R\u00e9seau & c\u00e2bles","difficulte":"Tr\u00e8s facile",`,
          '"id_trad":1,"url_challenge":"http://127.0.0.1:8080/portail/fr/Challenges/Reseau/Entree",',
          '"date_publication":"2025-01-31T12:00:00Z","nb_validations":5},',
          '{"id_challenge":2,"titre":"The entrance","soustitre":"Where is the flag?","lang":"en","score":10,',
          String.raw`"id_rubrique":1,"rubrique":"R\u00e9seau & c\u00e2bles","difficulte":"Tr\u00e8s facile","id_trad":1,`,
          '"url_challenge":"http://127.0.0.1:8080/portail/en/Challenges/Network/Entrance",',
          '"date_publication":"2025-02-01T00:00:00Z","nb_validations":1},',
          String.raw`{"id_challenge":3,"titre":"100 % _coton_ \"pur\"","soustitre":"entr\u00e9e des artistes",`,
          String.raw`"lang":"FR","score":25,"id_rubrique":2,"rubrique":"St\u00e9ganographie","difficulte":"",`,
          '"id_trad":null,"url_challenge":"https://ailleurs.example/defi?x=1&y=2","date_publication":null,',
          '"nb_validations":1}]',
        ].join(''),
      )
    })

    test('has every challenge once, by id, whatever the order of the dump', async () => {
      expect(await found('')).toEqual([1, 2, 3, 4, 5, 90])
    })

    test('writes an emoji as a surrogate pair and DEL as an escape, in lower-case hexadecimal', async () => {
      expect(await text('/challenges?lang=es')).toContain(String.raw`"titre":"\u0152uf \ud83d\ude00\u007f"`)
    })

    test('shows unknown fields as an empty text or null, and derives an address for a challenge without a path', async () => {
      expect(await text('/challenges?titre=nu')).toBe(
        [
          '[{"id_challenge":4,"titre":"Nu","soustitre":"","lang":"","score":0,"id_rubrique":2,',
          String.raw`"rubrique":"St\u00e9ganographie","difficulte":"","id_trad":null,`,
          '"url_challenge":"http://127.0.0.1:8080/portail/challenges/4","date_publication":null,"nb_validations":0}]',
        ].join(''),
      )
    })
  })

  describe('filters', () => {
    test.each([
      ['titre=entree', [1]],
      ['titre=ENTR%C3%89E', [1]],
      ['titre=entre%CC%81e', [1]],
      ['titre=L%27e', [1]],
      ['titre=%25', [3]],
      ['titre=_', [3]],
      ['titre=%22', [3]],
      ['titre=%22pur%22', [3]],
      ['titre=%25%25', []],
      ['titre=a%25e', []],
      ['titre=*', []],
      ['titre=%CC%81', [1, 2, 3, 4, 5, 90]],
      ['titre=', [1, 2, 3, 4, 5, 90]],
      ['titre=%F0%9F%98%80', [5]],
      ['titre=%20', [2, 3, 5, 90]],
      ['titre=+', [2, 3, 5, 90]],
      ['soustitre=entree', [3]],
      ['soustitre=DRAPEAU', [1]],
      ['soustitre=ou', [1]],
    ])('%s: matches texts that contain the value, ignoring case and accents, without wildcards', async (query, ids) => {
      expect(await found(query)).toEqual(ids)
    })

    test.each([
      ['lang=fr', [1, 3]],
      ['lang=FR', [1, 3]],
      ['lang=f', []],
      ['lang=', [1, 2, 3, 4, 5, 90]],
      ['score=25', [3, 5]],
      ['score=0', [4]],
      ['score=', [1, 2, 3, 4, 5, 90]],
      ['score=9007199254740991', []],
      ['id_rubrique=1', [1, 2, 90]],
      ['id_rubrique=7', []],
      ['id_rubrique=999', []],
    ])('%s: matches a whole word, ignoring ASCII case, or an equal number', async (query, ids) => {
      expect(await found(query)).toEqual(ids)
    })

    test.each([
      ['id_auteur[]=2', [1, 2, 5]],
      ['id_auteur%5B%5D=2', [1, 2, 5]],
      ['id_auteur=2', [1, 2, 5]],
      ['id_auteur[0]=2', [1, 2, 5]],
      ['id_auteur[]=4&id_auteur[]=1', [1, 3]],
      ['id_auteur=4&id_auteur[7]=1&id_auteur[]=2', [1, 2, 3, 5]],
      ['id_auteur=2&id_auteur=2', [1, 2, 5]],
      ['id_auteur=2&id_auteur=6', [1, 2, 3, 5]],
      ['id_auteur[]=&id_auteur[]=6', [3]],
      ['id_auteur[]=', [1, 2, 3, 4, 5, 90]],
      ['id_auteur[]=40', []],
      ['id_auteur[]=999999', []],
    ])('%s: matches challenges written by any of these authors, each once', async (query, ids) => {
      expect(await found(query)).toEqual(ids)
    })

    test.each([
      ['titre=e&lang=fr', [1]],
      ['titre=entree&soustitre=drapeau&lang=FR&score=10&id_rubrique=1&id_auteur[]=2', [1]],
      ['titre=entree&soustitre=artistes', []],
      ['score=25&id_auteur[]=2', [5]],
      ['titre=n&score=10&id_rubrique=1', [1, 2, 90]],
    ])('%s: filters combine with AND', async (query, ids) => {
      expect(await found(query)).toEqual(ids)
    })

    test('no match is a 200 with an empty list', async () => {
      const response = await server.get('/challenges?titre=introuvable')
      expect([response.status, await response.text(), response.headers.get('x-total-count')]).toEqual([200, '[]', '0'])
    })
  })

  describe('the detail', () => {
    test("has the seed's fields first, then the rest, in one order, with names by id and HTML unchanged", async () => {
      expect(await text('/challenges/1')).toBe(
        [
          String.raw`{"titre":"L'entr\u00e9e","descriptif":"<p>Entrez&nbsp;: <a href=\"/x\">l\u00e0</a>\n</p>",`,
          String.raw`"score":10,"id_rubrique":1,"id_challenge":1,"soustitre":"O\u00f9 est le drapeau ?",`,
          String.raw`"rubrique":"R\u00e9seau & c\u00e2bles","lang":"fr","difficulte":"Tr\u00e8s facile","id_trad":1,`,
          '"traductions":[{"id_challenge":1,"lang":"fr"},{"id_challenge":2,"lang":"en"},{"id_challenge":90,"lang":"de"}],',
          '"url_challenge":"http://127.0.0.1:8080/portail/fr/Challenges/Reseau/Entree",',
          '"date_publication":"2025-01-31T12:00:00Z",',
          String.raw`"auteurs":[{"id_auteur":"2","nom":"\u00c9lodie \ud83d\ude00"},`,
          String.raw`{"id_auteur":"4","nom":"\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2"}],"nb_validations":5,`,
          String.raw`"premiere_validation":{"id_auteur":"6","nom":"\u00e9lodie la cach\u00e9e",`,
          '"date":"2025-03-01T08:00:00Z"}}',
        ].join(''),
      )
    })

    test('a challenge without authors, translations or solves lists itself as its only translation, and has no first validation', async () => {
      expect(await text('/challenges/4')).toBe(
        [
          '{"titre":"Nu","descriptif":"","score":0,"id_rubrique":2,"id_challenge":4,"soustitre":"",',
          String.raw`"rubrique":"St\u00e9ganographie","lang":"","difficulte":"","id_trad":null,`,
          '"traductions":[{"id_challenge":4,"lang":""}],',
          '"url_challenge":"http://127.0.0.1:8080/portail/challenges/4","date_publication":null,"auteurs":[],',
          '"nb_validations":0,"premiere_validation":null}',
        ].join(''),
      )
    })

    test('keeps an absolute url_challenge', async () => {
      expect(await text('/challenges/3')).toContain('"url_challenge":"https://ailleurs.example/defi?x=1&y=2"')
    })

    test('counts hidden authors among the solvers, even as the first one', async () => {
      const body = await server.json<{ nb_validations: number; premiere_validation: object }>('/challenges/1')
      expect(body.nb_validations).toBe(5)
      expect(body.premiere_validation).toMatchObject({ id_auteur: '6' })
    })

    test('shows a first validation of unknown date with a null date', async () => {
      const body = await server.json<{ premiere_validation: object }>('/challenges/5')
      expect(body.premiere_validation).toEqual({ id_auteur: '2', nom: 'Élodie 😀', date: null })
    })
  })

  describe('validations', () => {
    test('are ordered by date, then author, with unknown dates last and hidden authors included', async () => {
      expect(await text('/challenges/1/validations')).toBe(
        [
          String.raw`[{"id_auteur":"6","nom":"\u00e9lodie la cach\u00e9e","date":"2025-03-01T08:00:00Z"},`,
          String.raw`{"id_auteur":"2","nom":"\u00c9lodie \ud83d\ude00","date":"2025-03-02T08:00:00Z"},`,
          String.raw`{"id_auteur":"9","nom":"a_b\\c/d","date":"2025-03-02T08:00:00Z"},`,
          String.raw`{"id_auteur":"8","nom":"a%b","date":null},{"id_auteur":"10","nom":"E\u0301LODIE","date":null}]`,
        ].join(''),
      )
    })

    test('a challenge without solves has an empty list', async () => {
      expect(await text('/challenges/4/validations')).toBe('[]')
    })

    test('an unknown challenge is a 404', async () => {
      expect((await server.get('/challenges/999/validations')).status).toBe(404)
    })
  })

  test.each(['/challenges/999', '/challenges/9007199254740991', '/challenges/999/validations'])(
    '%s: an unknown id is a 404',
    async (path) => {
      const response = await server.get(path)
      expect([response.status, (await response.json()) as object]).toMatchObject([404, { code: 'resource_not_found' }])
    },
  )

  test.each(['0', '-1', '01', '1.0', '1e3', 'abc', '9007199254740992', '9'.repeat(300), '%20', '1%00', '%C3%A9'])(
    'a malformed id, %s, is a 400 that names it',
    async (id) => {
      const response = await server.get(`/challenges/${id}`)
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ errors: [{ parameter: 'id_challenge' }] })
    },
  )
})
