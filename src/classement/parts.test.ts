import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { portail } from '../../test/fixtures.js'
import { type DumpLine, engines, importInto, startServer, type TestServer } from '../../test/harness.js'
import { changeSetting } from '../portal/settings.js'
import { findAmong } from './rank.js'

interface Ranked {
  place: number
  id_auteur: string
  position?: number
}

const auteur = (id_auteur: number, score: number, groupe: string, rest: DumpLine = {}): DumpLine => {
  return { type: 'auteur', id_auteur, nom: `a${id_auteur}`, score, groupe, ...rest }
}

const GROUPS: DumpLine[] = [
  auteur(1, 90, 'Nord'),
  auteur(2, 70, 'NORD', { date_score: '2026-01-02T00:00:00Z' }),
  auteur(3, 80, 'Sud'),
  auteur(4, 70, 'nord', { date_score: '2026-01-01T00:00:00Z' }),
  auteur(5, 10, 'Nord'),
  auteur(6, 95, 'Nord', { statut: '5poubelle' }),
  auteur(7, 60, 'ÉTÉ'),
  auteur(8, 50, 'été'),
  auteur(9, 40, '東/京 %_\'"'),
  auteur(10, 30, 'x'.repeat(100)),
  auteur(11, 100, ''),
]

describe.each(engines)('on %s', (engine) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(GROUPS, { engine })
  })
  afterAll(() => server.close())

  /** Each row as `place:id`, or `place:id (position)`. */
  const rows = async (query: string, from = server) =>
    (await from.json<Ranked[]>(`/classement?${query}`)).map(
      ({ place, id_auteur, position }) => `${place}:${id_auteur}${position ? ` (${position})` : ''}`,
    )
  const inGroup = (groupe: string, rest = '') => rows(`groupe=${encodeURIComponent(groupe)}${rest}`)
  const refused = async (target: string) => {
    const response = await server.get(target)
    const { code, detail } = (await response.json()) as { code: string; detail: string }
    return [response.status, code, detail]
  }

  describe('the ranking of a group', () => {
    test('has the places among its authors, whatever the ASCII case of its name; hidden authors have none', async () => {
      for (const groupe of ['Nord', 'nord', 'NORD', 'nORd']) {
        expect(await inGroup(groupe)).toEqual(['1:1', '2:2', '2:4', '4:5'])
      }
      expect(await inGroup('sud')).toEqual(['1:3'])
    })

    test('takes names of any alphabet and length; only ASCII letters ignore case', async () => {
      expect(await inGroup('ÉTÉ')).toEqual(['1:7'])
      expect(await inGroup('été')).toEqual(['1:8'])
      expect(await inGroup('ÉtÉ')).toEqual(['1:7'])
      expect(await inGroup('东京')).toEqual([])
      expect(await inGroup('東/京 %_\'"')).toEqual(['1:9'])
      expect(await inGroup('X'.repeat(100))).toEqual(['1:10'])
    })

    test('is empty for a group that nobody is in, and the whole ranking for an empty name', async () => {
      const response = await server.get('/classement?groupe=nulle%20part')
      expect([response.status, await response.text(), response.headers.get('x-total-count')]).toEqual([200, '[]', '0'])
      for (const groupe of ['nor', 'nord ', ' nord', '%', 'nord/']) expect(await inGroup(groupe)).toEqual([])
      expect(await rows('groupe=')).toEqual(await rows(''))
    })

    test('is paged, and has links that keep the group', async () => {
      const response = await server.get('/classement?groupe=nord&limite=2&debut_classement=1')
      expect(response.headers.get('x-total-count')).toBe('4')
      expect(response.headers.get('link')).toContain('?limite=2&groupe=nord&debut_classement=3>; rel="next"')
      expect(await inGroup('nord', '&limite=2&debut_classement=1')).toEqual(['2:2', '2:4'])
      expect(await inGroup('nord', '&debut_classement=4')).toEqual([])
      expect((await server.get('/classement?groupe=nord&limite=501')).status).toBe(400)
    })

    test('has pages around its authors; an author of another group, or without a place, is a 404', async () => {
      expect(await inGroup('nord', '&autour_de=5&limite=2')).toEqual(['2:4', '4:5'])
      expect(await inGroup('NORD', '&autour_de=4&limite=1')).toEqual(['2:4'])
      for (const id of [3, 6, 11, 999]) {
        expect(await refused(`/classement?groupe=nord&autour_de=${id}`)).toEqual([
          404,
          'resource_not_found',
          'This ranking has no author with this id.',
        ])
      }
      expect((await refused('/classement?groupe=inconnu&autour_de=1'))[0]).toBe(404)
    })

    test('has a histogram', async () => {
      const { nb_auteurs, score_max, tranches } = await server.json<{
        nb_auteurs: number
        score_max: number
        tranches: { nb: number }[]
      }>('/classement/histogramme?groupe=NORD')
      expect([nb_auteurs, score_max, tranches.reduce((sum, { nb }) => sum + nb, 0)]).toEqual([4, 90, 4])
      expect(await server.json('/classement/histogramme?groupe=inconnu')).toEqual({
        nb_auteurs: 0,
        score_max: 0,
        tranches: [],
      })
    })

    test('breaks ties by date if the operator has set that', async () => {
      const other = await startServer(GROUPS, { engine })
      await changeSetting(other.store, 'departage', 'date')
      expect(await rows('groupe=nord', other)).toEqual(['1:1', '2:4', '3:2', '4:5'])
      expect(await rows('groupe=nord&autour_de=2&limite=1', other)).toEqual(['3:2'])
      expect(await rows('id_auteur=2,4,5', other)).toEqual(['1:4 (4)', '2:2 (5)', '3:5 (10)'])
      await other.close()
    })

    test('is refused for a name of more than 100 characters', async () => {
      for (const path of ['/classement', '/classement/histogramme', '/auteurs']) {
        expect(await refused(`${path}?groupe=${encodeURIComponent('é'.repeat(101))}`)).toEqual([
          400,
          'invalid_parameter',
          'groupe takes at most 100 characters.',
        ])
      }
    })
  })

  describe('the ranking of some authors', () => {
    test('has their places among each other, and last their positions among all', async () => {
      expect(await (await server.get('/classement?id_auteur=2,3,4')).text()).toBe(
        `[${[
          '{"place":1,"nom":"a3","score":"80","id_auteur":"3","position":3}',
          '{"place":2,"nom":"a2","score":"70","id_auteur":"2","position":4}',
          '{"place":2,"nom":"a4","score":"70","id_auteur":"4","position":4}',
        ]}]`,
      )
      expect(await rows('id_auteur=5,4,2')).toEqual(['1:2 (4)', '1:4 (4)', '3:5 (10)'])
      const { position } = await server.json<{ position: number }>('/auteurs/5')
      expect(position).toBe(10)
    })

    test('leaves out authors who do not exist or hold no place; none is an empty list', async () => {
      expect(await rows('id_auteur[]=6&id_auteur[]=1&id_auteur[]=999&id_auteur=9007199254740991')).toEqual(['1:1 (2)'])
      const response = await server.get('/classement?id_auteur=6,999')
      expect([response.status, await response.text(), response.headers.get('x-total-count')]).toEqual([200, '[]', '0'])
      expect(await rows('id_auteur=')).toEqual(await rows(''))
    })

    test('is paged', async () => {
      const query = 'id_auteur=1,2,4,5,5,2&limite=2'
      const response = await server.get(`/classement?${query}&debut_classement=1`)
      expect(response.headers.get('x-total-count')).toBe('4')
      expect(await rows(`${query}&debut_classement=1`)).toEqual(['2:2 (4)', '2:4 (4)'])
      expect(await rows(`${query}&debut_classement=4`)).toEqual([])
    })

    test('has pages around one of them; anyone else is a 404', async () => {
      expect(await rows('id_auteur=1,2,4,5&autour_de=4&limite=2')).toEqual(['2:2 (4)', '2:4 (4)'])
      for (const id of [3, 6]) {
        expect(await refused(`/classement?id_auteur=1,2,6&autour_de=${id}`)).toEqual([
          404,
          'resource_not_found',
          'This ranking has no author with this id.',
        ])
      }
    })
  })

  const PARTS = ['id_rubrique=1', 'periode=2026', 'groupe=nord', 'id_auteur[]=1']
  const pairs = PARTS.flatMap((first, i) => PARTS.slice(i + 1).map((second) => [first, second] as const))

  test.each(pairs)('%s and %s exclude each other: a 400 that names both', async (...pair) => {
    const [first, second] = pair.map((each) => each.slice(0, each.indexOf('='))) as [string, string]
    for (const query of [pair, pair.toReversed()]) {
      expect(await refused(`/classement?${query.join('&')}`)).toEqual([
        400,
        'invalid_parameter',
        `${second} cannot be given together with ${first}.`,
      ])
    }
    if (second === 'id_auteur[]') return
    expect((await refused(`/classement/histogramme?${pair.join('&')}`))[0]).toBe(400)
  })

  test('500 authors of 10,000 cost two statements, and the nodes above their leaves', async () => {
    const many = Array.from({ length: 10_000 }, (_, i) => auteur(i + 1, (i * 7_919) % 10_007, ''))
    const other = await startServer(many, { engine })
    const ids = Array.from({ length: 500 }, (_, i) => 1 + 20 * i)
    const counts = []
    for (let round = 0; round < 2; round++) {
      counts.push(
        await other.store.read(async (db) => {
          const spies = [vi.spyOn(db, 'all'), vi.spyOn(db, 'get')]
          expect(await findAmong(db, ids)).toHaveLength(500)
          const asked = spies.reduce((sum, { mock }) => sum + mock.calls.length, 0)
          for (const spy of spies) spy.mockRestore()
          return asked
        }),
      )
    }
    // 10,000 authors have 313 leaves below 10 nodes, and two levels above these.
    expect(counts[0]).toBeLessThanOrEqual(2 + 3 + 10)
    expect(counts[1]).toBe(2)
    await other.close()
  })

  test('a change shows in the next response', async () => {
    const other = await startServer(portail, { engine })
    expect(await rows('groupe=lyc%C3%A9e%20b', other)).toEqual(['1:5', '1:12'])
    expect(await rows('id_auteur=9,12', other)).toEqual(['1:12 (8)', '2:9 (10)'])
    await importInto(other.store, [auteur(9, 50, 'lycée B'), auteur(12, 30, 'autre')])
    expect(await rows('groupe=lyc%C3%A9e%20b', other)).toEqual(['1:9', '2:5'])
    expect(await rows('id_auteur=9,12', other)).toEqual(['1:9 (7)', '2:12 (9)'])
    await other.close()
  })
})
