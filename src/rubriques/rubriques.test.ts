import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { portail } from '../../test/fixtures.js'
import { engines, importInto, startServer, type TestServer } from '../../test/harness.js'

describe.each(engines)('rubriques on %s', (engine) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(portail, { engine })
  })
  afterAll(() => server.close())

  test('are all listed, by id, with the number of their challenges', async () => {
    const response = await server.get('/rubriques')
    expect(response.status).toBe(200)
    expect(await response.text()).toBe(
      [
        String.raw`[{"id_rubrique":1,"nom":"R\u00e9seau & c\u00e2bles","nb_challenges":3},`,
        String.raw`{"id_rubrique":2,"nom":"St\u00e9ganographie","nb_challenges":3},`,
        '{"id_rubrique":7,"nom":"Vide","nb_challenges":0}]',
      ].join(''),
    )
  })

  test('are one response without pages, whatever the query is', async () => {
    const response = await server.get('/rubriques?limite=1&debut_rubriques=1')
    expect(await response.json()).toHaveLength(3)
    expect(response.headers.get('link')).toBeNull()
  })

  test('count the current challenges after each import', async () => {
    const other = await startServer(portail, { engine })
    await importInto(other.store, [{ type: 'challenge', id_challenge: 4, id_rubrique: 7, titre: 'Nu', score: 0 }])
    const counts = await other.json<{ nb_challenges: number }[]>('/rubriques')
    expect(counts.map((row) => row.nb_challenges)).toEqual([3, 2, 1])
    await other.close()
  })
})
