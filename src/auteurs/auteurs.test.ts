import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { portail } from '../../test/fixtures.js'
import { engines, startServer, type TestServer } from '../../test/harness.js'

const ALL = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '12', '40']

describe.each(engines)('auteurs on %s', (engine) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(portail, { engine })
  })
  afterAll(() => server.close())

  const text = async (path: string) => (await server.get(path)).text()
  const found = async (query: string) => {
    const rows = await server.json<Record<string, { id_auteur: string }>>(`/auteurs?${query}`)
    return Object.values(rows).map((row) => row.id_auteur)
  }

  describe('the list', () => {
    test('is an object keyed by index, ids as text, in ASCII, by id', async () => {
      expect(await text('/auteurs')).toBe(
        [
          String.raw`{"0":{"id_auteur":"1","nom":"alice"},"1":{"id_auteur":"2","nom":"\u00c9lodie \ud83d\ude00"},`,
          String.raw`"2":{"id_auteur":"3","nom":"O'Brien \"50%_\""},`,
          String.raw`"3":{"id_auteur":"4","nom":"\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2"},`,
          String.raw`"4":{"id_auteur":"5","nom":"<b>Zo\u00e9 & Cie</b>"},`,
          String.raw`"5":{"id_auteur":"6","nom":"\u00e9lodie la cach\u00e9e"},`,
          String.raw`"6":{"id_auteur":"7","nom":"DEL\u007f\u0080"},"7":{"id_auteur":"8","nom":"a%b"},`,
          String.raw`"8":{"id_auteur":"9","nom":"a_b\\c/d"},"9":{"id_auteur":"10","nom":"E\u0301LODIE"},`,
          String.raw`"10":{"id_auteur":"12","nom":"\ufb01n du monde"},`,
          String.raw`"11":{"id_auteur":"40","nom":"\u65e5\u672c\u8a9e"}}`,
        ].join(''),
      )
    })

    test('starts its keys at "0" on each page', async () => {
      expect(await text('/auteurs?debut_auteurs=7&limite=2')).toBe(
        String.raw`{"0":{"id_auteur":"8","nom":"a%b"},"1":{"id_auteur":"9","nom":"a_b\\c/d"}}`,
      )
    })

    test('a list without matches is a 200 with an empty object', async () => {
      const response = await server.get('/auteurs?nom=introuvable')
      expect([response.status, await response.text(), response.headers.get('x-total-count')]).toEqual([200, '{}', '0'])
    })
  })

  describe('filters', () => {
    test.each([
      ['nom=elo', ['2', '6', '10']],
      ['nom=%C3%89LO', ['2', '6', '10']],
      ['nom=e%CC%81lodie', ['2', '6', '10']],
      ['nom=el', ['2', '6', '7', '10']],
      ['nom=%C3%A9lodie%20la', ['6']],
      ['nom=%CE%A3%CE%99%CE%A3%CE%A5%CE%A6%CE%9F%CE%A3', ['4']],
      ['nom=%CF%82', ['4']],
      ['nom=fin', ['12']],
      ['nom=%EF%AC%81', ['12']],
      ['nom=%E6%97%A5', ['40']],
      ['nom=%E6%9C%AC%E8%AA%9E', ['40']],
      ['nom=%25', ['3', '8']],
      ['nom=_', ['3', '9']],
      ['nom=%27', ['3']],
      ['nom=%22', ['3']],
      ['nom=%2250%25_%22', ['3']],
      ['nom=%5C', ['9']],
      ['nom=a_b', ['9']],
      ['nom=a%25b', ['8']],
      ['nom=%3Cb%3E', ['5']],
      ['nom=%26', ['5']],
      ['nom=%7F', ['7']],
      ['nom=%F0%9F%98%80', ['2']],
      ['nom=%22%20OR%20nom_plie%3A%22a', []],
      ['nom=%CC%81', ALL],
      ['nom=', ALL],
    ])('%s: matches names that contain the text, ignoring case and accents, without wildcards', async (query, ids) => {
      expect(await found(query)).toEqual(ids)
    })

    test.each([
      ['statut=6forum', ['1', '2', '3', '7', '10']],
      ['statut=6FORUM', ['1', '2', '3', '7', '10']],
      ['statut=5poubelle', ['6']],
      ['statut=forum', []],
      ['statut=', ALL],
      ['lang=EN', ['3', '5']],
      ['lang=e', []],
      ['lang=%C3%A9n', []],
      ['groupe=LYC%C3%A9E%20B', ['5', '12']],
      ['groupe=lyc%C3%89e%20b', ['9']],
      ['groupe=lyc', []],
      ['groupe=', ALL],
      ['groupe=lyc%C3%A9e%20b&lang=de', ['12']],
      ['id_auteur[]=40&id_auteur[]=2', ['2', '40']],
      ['id_auteur=6&id_auteur[3]=6&id_auteur[]=999', ['6']],
      ['nom=e&statut=6forum&lang=fr&id_auteur[]=1&id_auteur[]=10', ['1', '10']],
      ['nom=elodie&statut=1comite', []],
    ])('%s: matches whole words, ignoring ASCII case, and combines filters with AND', async (query, ids) => {
      expect(await found(query)).toEqual(ids)
    })
  })

  describe('the detail', () => {
    test("has the seed's fields first, then solves with the latest first and unknown dates last, then challenges written by id", async () => {
      expect(await text('/auteurs/2')).toBe(
        [
          String.raw`{"nom":"\u00c9lodie \ud83d\ude00","score":70,"position":3,"challenges":[`,
          '{"id_challenge":1,"url_challenge":"http://127.0.0.1:8080/portail/fr/Challenges/Reseau/Entree",',
          String.raw`"titre":"L'entr\u00e9e"},`,
          '{"id_challenge":2,"url_challenge":"http://127.0.0.1:8080/portail/en/Challenges/Network/Entrance",',
          '"titre":"The entrance"},',
          '{"id_challenge":5,"url_challenge":"http://127.0.0.1:8080/portail/challenges/5",',
          String.raw`"titre":"\u0152uf \ud83d\ude00\u007f"}],`,
          '"id_auteur":"2","statut":"6forum","lang":"fr","nb_validations":4,"validations":[',
          String.raw`{"id_challenge":3,"titre":"100 % _coton_ \"pur\"","id_rubrique":2,"score":25,`,
          '"date":"2025-03-03T09:30:59Z"},',
          String.raw`{"id_challenge":1,"titre":"L'entr\u00e9e","id_rubrique":1,"score":10,"date":"2025-03-02T08:00:00Z"},`,
          '{"id_challenge":2,"titre":"The entrance","id_rubrique":1,"score":10,"date":"2025-03-02T08:00:00Z"},',
          String.raw`{"id_challenge":5,"titre":"\u0152uf \ud83d\ude00\u007f","id_rubrique":2,"score":25,"date":null}],"groupe":""}`,
        ].join(''),
      )
    })

    test('the detail of an author with unknown fields has empty texts and empty lists', async () => {
      expect(await text('/auteurs/40')).toBe(
        String.raw`{"nom":"\u65e5\u672c\u8a9e","score":0,"position":11,"challenges":[],"id_auteur":"40",` +
          '"statut":"","lang":"","nb_validations":0,"validations":[],"groupe":""}',
      )
    })

    test('a hidden author has a detail, and its position is the one that the score would have', async () => {
      expect(await server.json('/auteurs/6')).toMatchObject({ nom: 'élodie la cachée', score: 500, position: 1 })
    })

    test('computes the score from the solves when the dump line has none', async () => {
      expect(await server.json('/auteurs/10')).toMatchObject({ score: 35, nb_validations: 2 })
    })

    test('keeps an absolute url_challenge', async () => {
      const { challenges } = await server.json<{ challenges: object[] }>('/auteurs/1')
      const titre = '100 % _coton_ "pur"'
      expect(challenges).toEqual([{ id_challenge: 3, url_challenge: 'https://ailleurs.example/defi?x=1&y=2', titre }])
    })

    test('an unknown id is a 404, and a malformed id a 400', async () => {
      expect((await server.get('/auteurs/11')).status).toBe(404)
      for (const id of ['0', '-2', '02', 'alice', '2.0', '9007199254740993', '9'.repeat(2_000)]) {
        const response = await server.get(`/auteurs/${id}`)
        expect([id, response.status, await response.json()]).toMatchObject([
          id,
          400,
          { errors: [{ parameter: 'id_auteur' }] },
        ])
      }
    })
  })
})
