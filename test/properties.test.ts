import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TieBreak } from '../src/model/store-settings.js'
import { changeGel, changeSetting } from '../src/portal/settings.js'
import { expectAsModel, walkAsModel } from './compare.js'
import { anyPortal, randomPortal } from './fixtures.js'
import { type DumpLine, engines, importInto, startServer, type TestServer } from './harness.js'
import { Model } from './model.js'
import { knownOf } from './requests.js'
import { shareOf } from './share.js'

const anyTieBreak = fc.constantFrom<TieBreak>('aucun', 'date')
const LISTS = ['/challenges', '/auteurs', '/classement', '/environnements_virtuels', '/groupes'] as const

describe.each(engines)('any portal on %s', (engine) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer([{ type: 'auteur', id_auteur: 1, nom: 'alice' }], { engine })
  })
  afterAll(() => server.close())

  /** Replaces the portal of the server with these lines. */
  async function replacePortal(lines: DumpLine[], departage: TieBreak = 'aucun', gel?: string): Promise<Model> {
    await changeGel(server.store, undefined)
    await changeSetting(server.store, 'departage', departage)
    if (gel) {
      await importInto(
        server.store,
        lines.filter(({ type }) => type !== 'validation'),
        { replace: true },
      )
      await changeGel(server.store, gel)
    }
    await importInto(server.store, lines, { replace: true })
    return new Model(lines, undefined, departage, gel)
  }

  test('every page of every list has the right rows, whatever the page size, and next leads through all pages', async () => {
    await fc.assert(
      fc.asyncProperty(anyPortal, fc.integer({ min: 1, max: 50 }), anyTieBreak, async (lines, limite, departage) => {
        const model = await replacePortal(lines, departage)
        for (const list of LISTS) await walkAsModel(server, model, `${list}?limite=${limite}`)
        await expectAsModel(server, model, '/rubriques')
      }),
      { numRuns: shareOf(15) },
    )
  })

  test('every ranking by category, year and month, and around an author, follows from the validations', async () => {
    await fc.assert(
      fc.asyncProperty(anyPortal, fc.integer({ min: 1, max: 50 }), anyTieBreak, async (lines, limite, departage) => {
        const model = await replacePortal(lines, departage)
        const { rubriques, periodes } = knownOf(lines)
        for (const part of [
          ...rubriques.map((id) => `id_rubrique=${id}`),
          ...periodes.map((each) => `periode=${each}`),
        ]) {
          await walkAsModel(server, model, `/classement?${part}&limite=${limite}`)
          const { id_auteur } = model.auteurs[limite % model.auteurs.length] ?? { id_auteur: 1 }
          await expectAsModel(server, model, `/classement?${part}&autour_de=${id_auteur}&limite=${limite}`)
        }
        await expectAsModel(server, model, '/classement?id_rubrique=9007199254740991')
        await expectAsModel(server, model, '/classement?periode=1873')
      }),
      { numRuns: shareOf(10) },
    )
  })

  test('every ranking of a group or of some authors, and around one of them, follows from the whole ranking', async () => {
    const anyIds = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 40 })
    const given = [anyPortal, fc.integer({ min: 1, max: 50 }), anyIds, anyTieBreak] as const
    await fc.assert(
      fc.asyncProperty(...given, async (lines, limite, ids, departage) => {
        const model = await replacePortal(lines, departage)
        const groups = ['nulle part', ...knownOf(lines).words.groupe].map(
          (name) => `groupe=${encodeURIComponent(name)}`,
        )
        for (const part of [...groups, `id_auteur=${ids}`]) {
          await walkAsModel(server, model, `/classement?${part}&limite=${limite}`)
          for (const id of [ids[0], model.auteurs[limite % model.auteurs.length]?.id_auteur ?? 1]) {
            await expectAsModel(server, model, `/classement?${part}&autour_de=${id}&limite=${limite}`)
          }
        }
        for (const part of groups) await expectAsModel(server, model, `/classement/histogramme?${part}`)
      }),
      { numRuns: shareOf(10) },
    )
  })

  test('a page may start at any row, inside or past the end', async () => {
    const anyPage = fc.tuple(fc.constantFrom(...LISTS), fc.nat(120), fc.integer({ min: 1, max: 500 }))
    await fc.assert(
      fc.asyncProperty(anyPortal, fc.array(anyPage, { minLength: 5, maxLength: 10 }), anyTieBreak, async (...given) => {
        const [lines, pages, departage] = given
        const model = await replacePortal(lines, departage)
        for (const [list, debut, limite] of pages) {
          await expectAsModel(server, model, `${list}?debut_${list.slice(1)}=${debut}&limite=${limite}`)
        }
      }),
      { numRuns: shareOf(15) },
    )
  })

  test('every record and every list of solvers follows from the dump', async () => {
    await fc.assert(
      fc.asyncProperty(anyPortal, fc.integer({ min: 1, max: 20 }), anyTieBreak, async (lines, limite, departage) => {
        const model = await replacePortal(lines, departage)
        for (const { id_auteur } of model.auteurs) await expectAsModel(server, model, `/auteurs/${id_auteur}`)
        for (const { id_challenge } of model.challenges) {
          await expectAsModel(server, model, `/challenges/${id_challenge}`)
          await walkAsModel(server, model, `/challenges/${id_challenge}/validations?limite=${limite}`)
        }
        for (const { id_environnement_virtuel } of model.environnements) {
          await expectAsModel(server, model, `/environnements_virtuels/${id_environnement_virtuel}`)
        }
      }),
      { numRuns: shareOf(8) },
    )
  })

  test('while the rankings are frozen, every read answers as if the portal had no later validations', async () => {
    const anyGel = fc.constantFrom('2000-01-01T00:00:00Z', '2024-01-31T23:59:59Z', '2024-02-10T00:00:00Z')
    await fc.assert(
      fc.asyncProperty(anyPortal, anyGel, anyTieBreak, async (lines, gel, departage) => {
        const model = await replacePortal(lines, departage, gel)
        const { rubriques, periodes } = knownOf(lines)
        const parts = [...rubriques.map((id) => `?id_rubrique=${id}`), ...periodes.map((each) => `?periode=${each}`)]
        for (const list of [...LISTS, ...parts.map((part) => `/classement${part}`)]) {
          await walkAsModel(server, model, `${list}${list.includes('?') ? '&' : '?'}limite=40`)
        }
        for (const part of ['', ...parts]) await expectAsModel(server, model, `/classement/histogramme${part}`)
        await expectAsModel(server, model, '/classement/periodes')
        for (const { id_auteur } of model.auteurs) {
          await expectAsModel(server, model, `/auteurs/${id_auteur}`)
          await expectAsModel(server, model, `/auteurs/${id_auteur}/progression`)
        }
        for (const { id_challenge } of model.challenges) {
          await expectAsModel(server, model, `/challenges/${id_challenge}`)
          await expectAsModel(server, model, `/challenges/${id_challenge}/progression`)
          await walkAsModel(server, model, `/challenges/${id_challenge}/validations?limite=20`)
        }
      }),
      { numRuns: shareOf(8) },
    )
  })

  test('every curve follows from the validations, with a point for each of them or for sixty dates', async () => {
    const large = randomPortal({ seed: 11, auteurs: 400, challenges: 4, validations: 900, scores: 7 })
    const portals = fc.oneof({ arbitrary: anyPortal, weight: 9 }, fc.constant(large))
    await fc.assert(
      fc.asyncProperty(portals, anyTieBreak, async (lines, departage) => {
        const model = await replacePortal(lines, departage)
        const { rubriques, periodes } = knownOf(lines)
        const parts = [
          '',
          ...rubriques.map((id) => `?id_rubrique=${id}`),
          ...periodes.map((each) => `?periode=${each}`),
        ]
        for (const part of parts) await expectAsModel(server, model, `/classement/histogramme${part}`)
        await expectAsModel(server, model, '/classement/periodes')
        for (const { id_auteur } of model.auteurs)
          await expectAsModel(server, model, `/auteurs/${id_auteur}/progression`)
        for (const { id_challenge } of model.challenges) {
          await expectAsModel(server, model, `/challenges/${id_challenge}/progression`)
        }
        await expectAsModel(server, model, '/challenges/9007199254740991/progression')
        await expectAsModel(server, model, '/auteurs/9007199254740991/progression')
        await expectAsModel(server, model, '/classement/histogramme?id_rubrique=9007199254740991')
      }),
      { numRuns: shareOf(8), examples: [[large, 'date']] },
    )
  })

  test('a place is the same on every page, around every author and as position', async () => {
    await fc.assert(
      fc.asyncProperty(anyPortal, fc.integer({ min: 1, max: 30 }), async (lines, limite) => {
        const model = await replacePortal(lines)
        const places = new Map<string, Set<number>>()
        const note = (id: string, place: number) => places.set(id, (places.get(id) ?? new Set()).add(place))
        for (const { id_auteur } of model.classement.slice(0, 40)) {
          const target = `/classement?autour_de=${id_auteur}&limite=${limite}`
          await expectAsModel(server, model, target)
          for (const row of await server.json<Ranked[]>(target)) note(row.id_auteur, row.place)
          const { position } = await server.json<{ position: number }>(`/auteurs/${id_auteur}`)
          note(String(id_auteur), position)
        }
        for (const row of await server.json<Ranked[]>('/classement?limite=500')) note(row.id_auteur, row.place)
        expect([...places].filter(([, found]) => found.size !== 1)).toEqual([])
      }),
      { numRuns: shareOf(8) },
    )
  })

  test('a search finds exactly what contains the text after folding', async () => {
    const anyNeedle = fc.record({ row: fc.nat(), from: fc.nat(8), length: fc.integer({ min: 1, max: 5 }), as: anyForm })
    await fc.assert(
      fc.asyncProperty(anyPortal, fc.array(anyNeedle, { minLength: 10, maxLength: 20 }), async (lines, needles) => {
        const model = await replacePortal(lines)
        for (const { row, from, length, as } of needles) {
          for (const [target, rows, name] of textFilters(model)) {
            if (rows.length === 0) continue
            const needle = as([...(rows[row % rows.length][name] ?? '')].slice(from, from + length).join(''))
            await walkAsModel(server, model, `${target}${encodeURIComponent(needle)}&limite=40`)
          }
        }
      }),
      { numRuns: shareOf(10) },
    )
  })

  test('a search for any text is answered', async () => {
    const model = await replacePortal(
      randomPortal({ seed: 4, auteurs: 200, challenges: 60, validations: 0, scores: 3 }),
    )
    const anyText = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !text.includes('\0'))
    await fc.assert(
      fc.asyncProperty(anyText, async (needle) => {
        if ([...needle].length > 100) return
        for (const [target] of textFilters(model))
          await expectAsModel(server, model, target + encodeURIComponent(needle))
      }),
      { numRuns: shareOf(60) },
    )
  })

  test('the largest ids and scores are exact', async () => {
    const [max, rubrique] = [Number.MAX_SAFE_INTEGER, { type: 'rubrique', id_rubrique: 1, nom: 'r' }]
    const lines: DumpLine[] = [rubrique, { type: 'auteur', id_auteur: 1, nom: 'a', score: 1_000_000_000_000 }]
    for (let back = 0; back < 40; back++) {
      const [id_auteur, id_challenge] = [max - 2 * back, max - back]
      lines.push({ type: 'auteur', id_auteur, nom: `n${back}` })
      lines.push({
        type: 'challenge',
        id_challenge,
        id_rubrique: 1,
        titre: 't',
        score: 1e12 - back,
        auteurs: [id_auteur],
      })
      for (let solved = 0; solved <= back; solved++) {
        lines.push({ type: 'validation', id_auteur, id_challenge: max - solved, date: '9999-12-31T23:59:59Z' })
      }
    }
    const model = await replacePortal(lines)
    for (const list of LISTS) await walkAsModel(server, model, `${list}?limite=7`)
    for (const { id_auteur } of model.auteurs) {
      await expectAsModel(server, model, `/auteurs/${id_auteur}`)
      await expectAsModel(server, model, `/classement?autour_de=${id_auteur}&limite=2`)
      await expectAsModel(server, model, `/challenges?id_auteur[]=${id_auteur}`)
    }
    await walkAsModel(server, model, `/challenges/${max}/validations?limite=7`)
  })

  test('while the data changes, each response is of one version, and versions never go back', async () => {
    const shape = { auteurs: 300, challenges: 60, validations: 2_000, scores: 9 }
    const versions = [1, 2, 3, 4].map((seed) => randomPortal({ seed, ...shape }))
    const models = versions.map((lines) => new Model(lines))
    await replacePortal(versions[0] as DumpLine[])
    const targets = ['/classement', '/auteurs/1', '/challenges?limite=500', '/auteurs?nom=e', '/rubriques']
    let isDone = false
    const reading = targets.map(async (target) => {
      const bodies = models.map((model) => model.answer(target).body)
      const seen: number[] = []
      while (!isDone || seen.length === 0) seen.push(bodies.indexOf(await (await server.get(target)).text()))
      expect([target, seen]).toEqual([target, seen.toSorted((a, b) => a - b)])
      expect(seen).not.toContain(-1)
    })
    for (const lines of versions.slice(1)) await importInto(server.store, lines, { replace: true })
    isDone = true
    await Promise.all(reading)
    for (const target of targets) await expectAsModel(server, models[3] as Model, target)
  })

  test('several filters together keep what matches each of them', async () => {
    const filter = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
    const anyFilters = fc.record({
      titre: filter(fc.constantFrom('a', 'E', 'o', 'ss')),
      lang: filter(fc.constantFrom('fr', 'EN', 'zh-hant')),
      score: filter(fc.constantFrom(0, 5, 10)),
      id_rubrique: filter(fc.integer({ min: 0, max: 4 })),
      'id_auteur[]': filter(fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 20 })),
      nom: filter(fc.constantFrom('i', 'A', 'no')),
      statut: filter(fc.constantFrom('6forum', '5POUBELLE', '1comite')),
      limite: filter(fc.integer({ min: 1, max: 12 })),
    })
    await fc.assert(
      fc.asyncProperty(anyPortal, fc.array(anyFilters, { minLength: 5, maxLength: 10 }), async (lines, all) => {
        const model = await replacePortal(lines)
        for (const filters of all) {
          const query = new URLSearchParams()
          for (const [name, value] of Object.entries(filters)) {
            for (const one of [value ?? []].flat()) query.append(name, String(one))
          }
          await walkAsModel(server, model, `/challenges?${query}`)
          await walkAsModel(server, model, `/auteurs?${query}`)
        }
      }),
      { numRuns: shareOf(10) },
    )
  })
})

describe.each(engines)('a large portal on %s', (engine) => {
  const lines = randomPortal({
    ...{ seed: 7, challenges: 30, scores: 900 },
    ...{ auteurs: shareOf(40_000), validations: shareOf(20_000) },
  })
  const model = new Model(lines)
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(lines, { engine })
  })
  afterAll(() => server.close())

  test('any page of the ranking is right, however deep', async () => {
    const rows = model.classement.length
    const near = [0, 1, 31, 32, 33, 1023, 1024, 1025, 32_767, 32_768, 32_769, rows - 1, rows, rows + 1]
    for (const debut of near) await expectAsModel(server, model, `/classement?debut_classement=${debut}&limite=3`)
    await fc.assert(
      fc.asyncProperty(fc.nat(rows), async (debut) => {
        await expectAsModel(server, model, `/classement?debut_classement=${debut}&limite=40`)
      }),
      { numRuns: shareOf(40) },
    )
  })

  test('the place of any author is the same in the ranking and as position', async () => {
    const anyAuteur = fc.constantFrom(...model.auteurs.map(({ id_auteur }) => id_auteur as number))
    await fc.assert(
      fc.asyncProperty(anyAuteur, async (id) => {
        await expectAsModel(server, model, `/classement?autour_de=${id}&limite=5`)
        await expectAsModel(server, model, `/auteurs/${id}`)
      }),
      { numRuns: shareOf(40) },
    )
  })

  test('any page of authors is right, however deep', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(model.auteurs.length), async (debut) => {
        await expectAsModel(server, model, `/auteurs?debut_auteurs=${debut}&limite=20`)
      }),
      { numRuns: shareOf(40) },
    )
  })

  test('any page of a search is right, short or long, and its total is counted up to 1,000 only', async () => {
    const needles = ['e', 'ae', 'aei', 'no', 'n', '%', '日', '_"', '日本', 'sss', '😀', 'introuvable']
    for (const needle of needles) {
      for (const debut of [0, 990, 1_000, 5_000, 39_000]) {
        const target = `/auteurs?nom=${encodeURIComponent(needle)}&debut_auteurs=${debut}&limite=20`
        await expectAsModel(server, model, target)
      }
    }
  })
})

interface Ranked {
  id_auteur: string
  place: number
}

/** How a client may change a name before it searches for it. */
const anyForm = fc.constantFrom(
  (text: string) => text,
  (text: string) => text.toUpperCase(),
  (text: string) => text.toLowerCase(),
  (text: string) => text.normalize('NFD'),
  (text: string) => text.normalize('NFKC'),
  (text: string) => [...text].reverse().join(''),
)

/** Each list with a text filter, what it searches, and the field. */
function textFilters(model: Model): [target: string, rows: Model['auteurs'], name: string][] {
  return [
    ['/auteurs?nom=', model.auteurs, 'nom'],
    ['/challenges?titre=', model.challenges, 'titre'],
    ['/challenges?soustitre=', model.challenges, 'soustitre'],
    ['/environnements_virtuels?nom=', model.environnements, 'nom'],
  ]
}
