import { afterAll, beforeAll, expect, test } from 'vitest'
import { EVERYTHING } from '../../src/store/journal.js'
import { startServer, type TestServer } from '../harness.js'
import { turnsDuring } from '../turns.js'

const AUTHORS = 200_000
/** Far more than a request and the messages to a thread cause. */
const MANY_TURNS = 50
/** How long a request may block the event loop (ms). A shorter one needs no thread. */
const SHORT = 20

let server: TestServer
beforeAll(async () => {
  server = await startServer([{ type: 'auteur', id_auteur: 1, nom: 'a' }])
  const columns = ['id_auteur', 'nom', 'nom_plie', 'statut', 'statut_cle', 'lang', 'lang_cle']
  const names = (id: number) => (id % 3 === 0 ? `commun ${id}` : `comm ommu mmun ${id}`)
  for (let first = 2; first < AUTHORS; first += 10_000) {
    const rows = Array.from({ length: 10_000 }, (_, i) => [
      ...[first + i, names(first + i), names(first + i), '6forum', '6forum', 'fr', 'fr'],
    ])
    await server.store.write({ donnees: EVERYTHING }, (db) => db.load('auteurs', columns, rows))
  }
})
afterAll(() => server.close())

/** Each differs from those before it, so that none is cached. */
let asked = 0
const heavy = [
  'nom=zz',
  'nom=q&statut=6forum',
  'nom=ommun',
  'nom=communommu',
  'nom=communommu&lang=fr',
  'nom=commun&debut_auteurs=190000',
  'nom=mun&lang=fr&debut_auteurs=150000',
  'lang=fr&debut_auteurs=150000',
  'lang=fr&statut=6forum&debut_auteurs=150000',
]

test('the heaviest searches and filtered lists do not block the event loop', async () => {
  const ask = async (query: string) => {
    const { status } = await server.get(`/auteurs?limite=1&${query}&${++asked}`)
    // A slow machine needs more time than the limit of such a read.
    expect([query, [200, 503].includes(status)]).toEqual([query, true])
  }
  for (const query of heavy) await ask(query)
  for (const query of heavy) {
    const start = performance.now()
    const turns = await turnsDuring(() => ask(query))
    expect([query, turns > MANY_TURNS || performance.now() - start < SHORT]).toEqual([query, true])
  }
})

test('excess heavy searches are all answered, those past the limit with search_too_broad', async () => {
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => server.get(`/auteurs?nom=communommu&lang=fr&${++asked}`)),
  )
  const refused = answers.filter(({ status }) => status === 503)
  expect(answers.filter(({ status }) => status === 200).length + refused.length).toBe(200)
  expect(refused.length).toBeGreaterThan(0)
  for (const answer of refused) {
    expect(await answer.json()).toMatchObject({ code: 'search_too_broad' })
    expect(answer.headers.get('retry-after')).toBe('1')
  }
})
