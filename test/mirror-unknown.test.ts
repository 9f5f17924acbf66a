import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { failure, fakeDialect } from './fake-dialect.js'
import { portail } from './fixtures.js'
import { altered, type Front, json, passOn, startFront } from './front.js'
import { type DumpLine, engines, exportFrom, importInto, makeStore, startServer, type TestServer } from './harness.js'
import { mirrorInto } from './mirroring.js'

const UNKNOWN = { null: () => null, 'an empty text': () => '', missing: () => undefined }

const isList = (value: unknown) => typeof value === 'object' && value !== null

/** Which fields a record must have, in either convention. */
function isRequired(name: string, body: Record<string, unknown>): boolean {
  if (/^\d+$/.test(name)) return true
  const isChallenge = 'titre' in body && 'soustitre' in body
  return /^id_(?!trad)|^titre$|^nom$/.test(name) || (name === 'score' && isChallenge)
}

/** Makes every optional field of a body unknown, including lists in a record if `withLists`. */
function withoutOptional(value: unknown, unknown: () => unknown, withLists: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutOptional(each, unknown, withLists))
  if (!isList(value)) return value
  const body = value as Record<string, unknown>
  const fields = Object.entries(body).map(([name, field]) => {
    const isKept = isRequired(name, body) || (isList(field) && !withLists)
    return [name, isKept ? withoutOptional(field, unknown, withLists) : unknown()]
  })
  return Object.fromEntries(fields)
}

/** The same portal with only the required fields. */
function onlyRequired(lines: readonly DumpLine[], withLists: boolean, hasRubriques: boolean): DumpLine[] {
  return lines.flatMap((line): DumpLine[] => {
    const { type, id_rubrique, id_challenge, id_auteur, id_environnement_virtuel, titre, nom, score, auteurs } = line
    const listed = withLists ? {} : { auteurs }
    if (type === 'rubrique') return [{ type, id_rubrique, nom: hasRubriques ? nom : `rubrique ${id_rubrique}` }]
    if (type === 'challenge') return [{ type, id_challenge, id_rubrique, titre, score, ...listed }]
    if (type === 'auteur') return [{ type, id_auteur, nom }]
    if (type === 'validation') return withLists ? [] : [{ type, id_auteur, id_challenge }]
    return type === 'environnement_virtuel' ? [{ type, id_environnement_virtuel, nom }] : []
  })
}

/** A dump as a store exports it. */
async function normalised(lines: readonly DumpLine[]): Promise<DumpLine[]> {
  const { store, close } = await makeStore()
  await importInto(store, lines)
  const written = await exportFrom(store)
  await close()
  return written
}

const used = new Set(portail.filter(({ type }) => type === 'challenge').map(({ id_rubrique }) => id_rubrique))
const isUsed = ({ type, id_rubrique }: DumpLine) => type !== 'rubrique' || used.has(id_rubrique)

const made = new Map<string, Promise<DumpLine[]>>()

function expected(isContract: boolean, withLists: boolean): Promise<DumpLine[]> {
  const key = JSON.stringify([isContract, withLists])
  const named = isContract ? lines : lines.filter(isUsed)
  const found = made.get(key) ?? normalised(onlyRequired(named, withLists, isContract))
  made.set(key, found)
  return found
}

let origin: TestServer
let lines: DumpLine[]
beforeAll(async () => {
  origin = await startServer(portail, { logLevel: 'silent' })
  lines = await normalised(portail)
})
afterAll(() => origin.close())

describe.each(engines)('on %s, a mirror', (engine) => {
  const conventions = ['contract', 'dialect'] as const
  const cases = conventions.flatMap((convention) =>
    Object.keys(UNKNOWN).flatMap((way) => [false, true].map((withLists) => ({ convention, way, withLists }))),
  )

  test('a mirror of an older portal, which lacks a list, copies the others and warns', async () => {
    const front = await startFront(passOn(origin.url))
    front.fault = ({ path }, usual) =>
      path.startsWith('/environnements_virtuels') ? json({ code: 'path_not_found' }, 404) : usual()
    const copy = await makeStore(engine)
    const warnings: string[] = []
    const { faults } = await mirrorInto(copy.store, front.url, { key: origin.key, warnings })
    expect([faults, warnings]).toEqual([0, [expect.stringMatching(/^\/environnements_virtuels.*no such list/)]])
    const types = (some: DumpLine[]) => some.map(({ type }) => type)
    expect(types(await exportFrom(copy.store))).toEqual(types(lines).filter((type) => type !== 'environnement_virtuel'))
    await copy.close()
    await front.close()
  })

  test.each(cases)(
    'a mirror of a $convention whose optional fields are all $way is complete (lists too: $withLists)',
    async (given) => {
      const { convention, way, withLists } = given
      const isContract = convention === 'contract'
      const front = await startFront(isContract ? passOn(origin.url) : fakeDialect({ lines, hasTags: false }))
      front.fault = (_, usual) =>
        altered(usual, (body) => withoutOptional(body, UNKNOWN[way as keyof typeof UNKNOWN], withLists))
      const copy = await makeStore(engine)
      const warnings: string[] = []
      const { faults } = await mirrorInto(copy.store, front.url, { key: origin.key, warnings })
      expect([faults, warnings]).toEqual([0, []])
      expect(await exportFrom(copy.store)).toEqual(await expected(isContract, withLists))
      await copy.close()
      await front.close()
    },
  )

  describe('an address with empty lists only', () => {
    const nothing = {
      dialect: () => failure(404),
      contract: ({ path }: { path: string }) =>
        json(path.startsWith('/auteurs') ? {} : [], 200, { 'api-version': '1', etag: '"none"' }),
    }
    const asked = {
      dialect: '/challenges answered 404, /environnements_virtuels answered 404',
      contract: '/challenges?limite=500 answered 200, /environnements_virtuels?limite=500 answered 200',
    }

    test.each(conventions)(
      'an empty portal of the %s is refused with the requests and their statuses, and does not claim the store',
      async (name) => {
        const wrong = await startFront(nothing[name])
        const copy = await makeStore(engine)
        const claims = async () =>
          Promise.all(
            ['miroir', 'miroir_ressources'].map((table) =>
              copy.store.read((db) => db.select(`select * from ${table}`)),
            ),
          )
        for (const authors of [undefined, [1, 2]]) {
          const refusal = mirrorInto(copy.store, wrong.url, { authors })
          const lists = asked[name].split(', ')
          await expect(refusal).rejects.toThrow(`${wrong.url} has nothing to copy: ${lists[0]}, `)
          await expect(refusal).rejects.toThrow(`${lists[1]}`)
          await expect(refusal).rejects.toThrow('check that URL is the whole address of the portal')
          expect(await claims()).toEqual([[], []])
        }
        await mirrorInto(copy.store, origin.url, { key: origin.key })
        expect((await exportFrom(copy.store)).length).toBe(lines.length)
        await copy.close()
        await wrong.close()
      },
    )

    test('a portal that was full before is refused, keeps the copy, and is mirrored again once it is full', async () => {
      const front: Front = await startFront(passOn(origin.url))
      const copy = await makeStore(engine)
      const pass = () => mirrorInto(copy.store, front.url, { key: origin.key })
      await pass()
      const before = await exportFrom(copy.store)
      front.fault = nothing.contract
      for (let round = 0; round < 2; round++) await expect(pass()).rejects.toThrow('has nothing to copy')
      expect(await exportFrom(copy.store)).toEqual(before)
      front.fault = undefined
      expect((await pass()).faults).toBe(0)
      expect(await exportFrom(copy.store)).toEqual(before)
      await copy.close()
      await front.close()
    })
  })
})
