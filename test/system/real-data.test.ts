import { existsSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectAsModel, walkAsModel } from '../compare.js'
import { addAccount, addKey, type DumpLine, engines, exportFrom, startServer, type TestServer } from '../harness.js'
import { Model } from '../model.js'

const DUMPS = ['portail', 'solves']
const LISTS = ['/challenges', '/auteurs', '/classement', '/environnements_virtuels']

for (const engine of engines) {
  for (const dump of DUMPS) {
    const file = new URL(`../../../shared/data/${dump}.ndjson`, import.meta.url)
    const isThere = existsSync(file)
    if (!isThere) console.warn(`skipped: ../shared/data/${dump}.ndjson is not beside the repository`)

    describe.skipIf(!isThere)(`the portal ${dump} on ${engine}`, () => {
      let server: TestServer
      let model: Model
      beforeAll(async () => {
        const text = readFileSync(file, 'utf8')
        server = await signedIn(await startServer(text, { engine, logLevel: 'silent' }))
        model = new Model(text.split('\n').filter(Boolean).map(parse))
      })
      afterAll(() => server?.close())

      test('every list, read at two page sizes, shows every row of the dump', async () => {
        for (const list of LISTS) {
          await walkAsModel(server, model, list)
          await walkAsModel(server, model, `${list}?limite=499`)
        }
        await expectAsModel(server, model, '/rubriques')
      })

      test('every author is as in the dump, with the place that the ranking gives', async () => {
        for (const { id_auteur } of model.auteurs) await expectAsModel(server, model, `/auteurs/${id_auteur}`)
        expect(model.auteurs.length).toBeGreaterThan(2_000)
      })

      test('every challenge and its solvers are as in the dump', async () => {
        for (const { id_challenge } of model.challenges) {
          await expectAsModel(server, model, `/challenges/${id_challenge}`)
          await walkAsModel(server, model, `/challenges/${id_challenge}/validations?limite=500`)
        }
        expect(model.challenges.length).toBeGreaterThan(500)
      })

      test('every virtual environment is as in the dump', async () => {
        for (const { id_environnement_virtuel: id } of model.environnements) {
          await expectAsModel(server, model, `/environnements_virtuels/${id}`)
        }
      })

      test('names and titles are found by parts of them, in any case', async () => {
        for (const { nom } of model.auteurs.filter((_, index) => index % 53 === 0)) {
          const piece = [...nom].slice(0, 3).join('').toUpperCase()
          await walkAsModel(server, model, `/auteurs?limite=200&nom=${encodeURIComponent(piece)}`)
        }
        for (const { titre, lang } of model.challenges.filter((_, index) => index % 29 === 0)) {
          const piece = encodeURIComponent([...titre].slice(2, 8).join('').toLowerCase())
          await walkAsModel(server, model, `/challenges?titre=${piece}&lang=${lang}`)
        }
      })

      test('the page of the ranking at row 2450 has the places of its scores, from 2447 to 2525 in solves', async () => {
        const response = await server.get('/classement?debut_classement=2450')
        const places = ((await response.json()) as { place: number }[]).map(({ place }) => place)
        expect(places).toEqual(model.classement.slice(2_450, 2_550).map((row) => model.place(row)))
        if (dump === 'solves') expect([places[0], places.at(-1)]).toEqual([2_447, 2_525])
      })
    })
  }
}

/** The same server with a key for an author of the dump. */
async function signedIn(server: TestServer): Promise<TestServer> {
  const [auteur] = await exportFrom(server.store).then((lines) => lines.filter(({ type }) => type === 'auteur'))
  await addAccount(server.store, {
    login: 'lecteur',
    password: 'a long password',
    idAuteur: auteur?.id_auteur as number,
  })
  const key = await addKey(server.store, 'lecteur')
  const headers = { authorization: `Bearer ${key}` }
  return { ...server, key, get: (path) => server.anonymous(path, { headers }) }
}

function parse(line: string): DumpLine {
  return JSON.parse(line)
}
