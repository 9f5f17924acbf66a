import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { portail } from '../../test/fixtures.js'
import { engines, startServer, type TestServer } from '../../test/harness.js'

describe.each(engines)('environnements_virtuels on %s', (engine) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(portail, { engine })
  })
  afterAll(() => server.close())

  const text = async (path: string) => (await server.get(path)).text()

  test('the list has its fields in one order, ids as numbers, in ASCII, by id', async () => {
    expect(await text('/environnements_virtuels')).toBe(
      [
        String.raw`[{"id_environnement_virtuel":1,"nom":"Clairi\u00e8re","os":"Linux"},`,
        String.raw`{"id_environnement_virtuel":3,"nom":"For\u00eat","os":"Windows"},`,
        '{"id_environnement_virtuel":20,"nom":"FORET 2","os":""}]',
      ].join(''),
    )
  })

  test.each([
    ['nom=foret', [3, 20]],
    ['nom=FOR%C3%8AT', [3, 20]],
    ['nom=re', [1, 3, 20]],
    ['nom=2', [20]],
    ['nom=%25', []],
    ['os=linux', [1]],
    ['os=LINUX', [1]],
    ['os=lin', []],
    ['os=', [1, 3, 20]],
    ['nom=foret&os=windows', [3]],
    ['statut=actif&lang=en', [1, 3, 20]],
  ])('%s: matches names that contain the text and an equal os, and ignores unknown parameters', async (query, ids) => {
    const rows = await server.json<{ id_environnement_virtuel: number }[]>(`/environnements_virtuels?${query}`)
    expect(rows.map((row) => row.id_environnement_virtuel)).toEqual(ids)
  })

  test('the detail has the fields of the list, then the rest, with the time to root in seconds', async () => {
    expect(await text('/environnements_virtuels/3')).toBe(
      [
        String.raw`{"id_environnement_virtuel":3,"nom":"For\u00eat","os":"Windows","statut":"actif","lang":"fr",`,
        String.raw`"description_fr":"<p>Une for\u00eat.</p>","description_en":"A \"forest\".","time_to_root":3600}`,
      ].join(''),
    )
  })

  test('the detail of an environment with unknown fields has empty texts and null; 0 is a known value', async () => {
    expect(await text('/environnements_virtuels/1')).toBe(
      String.raw`{"id_environnement_virtuel":1,"nom":"Clairi\u00e8re","os":"Linux","statut":"","lang":"",` +
        '"description_fr":"","description_en":"","time_to_root":null}',
    )
    expect(await text('/environnements_virtuels/20')).toContain('"time_to_root":0}')
  })

  test('an unknown id is a 404, and a malformed id a 400 that names it', async () => {
    expect((await server.get('/environnements_virtuels/2')).status).toBe(404)
    for (const id of ['0', '01', 'x', '9007199254740992']) {
      const response = await server.get(`/environnements_virtuels/${id}`)
      const errors = [{ parameter: 'id_environnement_virtuel' }]
      expect([id, response.status, await response.json()]).toMatchObject([id, 400, { errors }])
    }
  })
})
