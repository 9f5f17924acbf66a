import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TieBreak } from '../src/model/store-settings.js'
import { ingest } from '../src/portal/live/ingest.js'
import { changeSetting } from '../src/portal/settings.js'
import type { Store } from '../src/store/store.js'
import { randomPortal } from './fixtures.js'
import { type DumpLine, engines, exportKey, importInto, serveStore, startServer, type TestServer } from './harness.js'
import { shareOf } from './share.js'

/** Enough authors for several leaves of a ranking, with ties. */
const START = randomPortal({ seed: 5, auteurs: 80, challenges: 8, validations: 120, scores: 6 })
/** Both servers write the same URLs. */
const SETTINGS = { publicUrl: 'https://portail.example' }

const idsOf = (type: string, name: string) =>
  START.filter((line) => line.type === type).map((line) => line[name] as number)
const AUTEURS = idsOf('auteur', 'id_auteur').sort((a, b) => a - b)
const CHALLENGES = idsOf('challenge', 'id_challenge')
const WRITERS = START.flatMap((line) => (line.auteurs ?? []) as number[])

const named = (count: number) =>
  AUTEURS.slice(0, count)
    .map((id) => `id_auteur[]=${id}`)
    .join('&')

/** Targets of each read route, by its path in the contract or below the prefix of the dialect. */
const TARGETS: Readonly<Record<string, readonly string[]>> = {
  '/challenges': [
    ...['/challenges', '/challenges?limite=3&debut_challenges=2', '/challenges?lang=fr', '/challenges?titre=t'],
    ...['/challenges?score=10', '/challenges?id_rubrique=1', `/challenges?${named(20)}`],
  ],
  '/challenges/{id_challenge}': CHALLENGES.map((id) => `/challenges/${id}`),
  '/challenges/{id_challenge}/validations': CHALLENGES.slice(0, 4).flatMap((id) => [
    `/challenges/${id}/validations?limite=4`,
    `/challenges/${id}/validations?limite=4&debut_validations=6`,
  ]),
  '/challenges/{id_challenge}/progression': CHALLENGES.slice(0, 4).map((id) => `/challenges/${id}/progression`),
  '/rubriques': ['/rubriques'],
  '/auteurs': [
    ...['/auteurs?limite=7', '/auteurs?limite=7&debut_auteurs=70', '/auteurs?statut=6forum&limite=5'],
    ...['/auteurs?lang=fr', '/auteurs?nom=e', '/auteurs?nom=eaa', `/auteurs?${named(5)}`],
  ],
  '/auteurs/{id_auteur}': AUTEURS.slice(0, 12).map((id) => `/auteurs/${id}`),
  '/auteurs/{id_auteur}/progression': AUTEURS.slice(0, 6).map((id) => `/auteurs/${id}/progression`),
  '/classement': [
    ...['/classement?limite=4', '/classement?limite=4&debut_classement=30', '/classement?debut_classement=60'],
    ...['/classement?debut_classement=900', '/classement?id_rubrique=1&limite=4', '/classement?id_rubrique=2'],
    ...['/classement?periode=2024&limite=4&debut_classement=4', '/classement?periode=2024-02'],
    ...AUTEURS.slice(0, 6).flatMap((id) => [
      `/classement?autour_de=${id}&limite=3`,
      `/classement?autour_de=${id}&limite=3&id_rubrique=1`,
      `/classement?autour_de=${id}&limite=3&periode=2024`,
      `/classement?autour_de=${id}&limite=3&groupe=nord`,
      `/classement?id_auteur=${id},${id + 7},${id + 30},424242,510&limite=3`,
    ]),
    ...['nord', 'sud-est', 'x'].map((groupe) => `/classement?groupe=${groupe}&limite=4`),
    ...['/classement?groupe=nord&limite=4&debut_classement=8', `/classement?${named(20)}&limite=5&debut_classement=4`],
  ],
  '/classement/histogramme': [
    ...['/classement/histogramme', '/classement/histogramme?id_rubrique=1', '/classement/histogramme?periode=2024'],
    '/classement/histogramme?groupe=nord',
  ],
  '/classement/periodes': ['/classement/periodes'],
  '/classement/regles': ['/classement/regles'],
  '/groupes': ['/groupes', '/groupes?limite=2&debut_groupes=1'],
  '/environnements_virtuels': ['/environnements_virtuels', '/environnements_virtuels?os=linux'],
  '/environnements_virtuels/{id_environnement_virtuel}': ['/environnements_virtuels/1', '/environnements_virtuels/2'],
  '/export': [
    ...[
      '/export',
      '/export?ressource=auteurs',
      '/export?ressource=challenges&format=csv',
      '/export?ressource=rubriques',
    ],
    ...['/export?ressource=validations', '/export?ressource=classement', '/export?ressource=environnements_virtuels'],
    '/export?ressource=groupes&format=csv',
  ],
  '/ctftime': ['/ctftime'],
}
const DIALECT = [
  ...['challenges', 'challenges?debut_challenges=5', 'challenges?titre=t', 'auteurs?nom=e', 'auteurs', 'classement'],
  ...['classement?debut_classement=50', 'classement?debut_classement=900', 'environnements_virtuels'],
  ...CHALLENGES.slice(0, 4).flatMap((id) => [`challenges/${id}`, `challenges/${id}?debut_validations=5`]),
  ...AUTEURS.slice(0, 6).map((id) => `auteurs/${id}`),
  'environnements_virtuels/1',
].map((path) => `/rootme/${path}`)

describe.each(engines)('with a cache, on %s', (engine) => {
  let server: TestServer
  let fresh: Awaited<ReturnType<typeof serveStore>>
  let headers: { authorization: string }

  beforeAll(async () => {
    server = await startServer(START, { engine, settings: SETTINGS })
    fresh = await serveStore(server.store, { settings: { ...SETTINGS, cacheMegabytes: 0 } })
    headers = { authorization: `Bearer ${await exportKey(server)}` }
  })
  afterAll(async () => {
    await fresh.app.close()
    await server.close()
  })

  const answerOf = async (url: string, target: string) => {
    let response = await fetch(url + target, { headers })
    // A busy machine sheds load, and only a few streamed responses run at a time.
    for (; response.status === 503; response = await fetch(url + target, { headers })) await sleep(50)
    const [link, total] = ['link', 'x-total-count'].map((name) => response.headers.get(name))
    const { status } = response
    expect([target, [200, 404].includes(status)]).toEqual([target, true])
    // Each refusal has its own request id.
    return { target, status, link, total, body: status === 200 && (await response.text()) }
  }
  const hits = async () => {
    const text = await server.metrics.registry.getSingleMetricAsString('palmares_response_cache_total')
    return Number(/\{result="hit"\} (\d+)/.exec(text)?.[1] ?? 0)
  }

  test('every read route is covered here', async () => {
    const document = (await (await server.anonymous('/openapi.json')).json()) as {
      paths: Record<string, { get?: { responses: object } }>
    }
    const cached = Object.entries(document.paths).filter(([, { get }]) => get && '304' in get.responses)
    expect(cached.map(([path]) => path).sort()).toEqual(Object.keys(TARGETS).sort())
  })

  test('every response equals that of a server without a cache, after any change', async () => {
    const targets = [...Object.values(TARGETS).flat(), ...DIALECT]
    const compare = async () => {
      const answersOf = (url: string) => Promise.all(targets.map((target) => answerOf(url, target)))
      expect(await answersOf(server.url)).toEqual(await answersOf(fresh.url))
    }
    await compare()
    const before = await hits()
    let rounds = 0
    await fc.assert(
      fc.asyncProperty(fc.array(anyChange, { minLength: 1, maxLength: 2 }), async (changes) => {
        for (const change of changes) await change(server.store)
        await compare()
        rounds++
      }),
      { numRuns: shareOf(50), endOnFailure: true },
    )
    const kept = (await hits()) - before
    console.info(`${engine}: ${kept} of ${rounds * targets.length} answers came from the cache`)
    expect(kept).toBeGreaterThan(0)
  })
})

const STATUTS = ['6forum', '5poubelle', '1comite', '']
const GROUPES = ['Nord', 'nord', 'sud-est', 'x', '']
const auteur = fc.constantFrom(...AUTEURS, 424_242)
const challenge = fc.constantFrom(...CHALLENGES, 424_242)
const rubrique = fc.constantFrom(1, 2, 9)
const gone = fc.constant(true)
const record = (type: string, fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<DumpLine> =>
  fc.record({ type: fc.constant(type), ...fields })

/** Mostly in a month that has no ranking yet. */
const anyMonth = fc
  .date({ min: new Date('2010-01-01'), max: new Date('2029-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString())

const solve = record('validation', {
  id_auteur: auteur,
  id_challenge: challenge,
  date: fc.oneof(fc.constant(null), fc.constant('2024-02-20T00:00:00Z'), anyMonth),
})
/** Half of the time an author of a challenge, because their name is shown there. */
const rename = record('auteur', {
  id_auteur: fc.oneof(auteur, fc.constantFrom(...WRITERS)),
  nom: fc.nat(9_999).map((nb) => `eaab ${nb}`),
  partiel: gone,
})
const rescore = record('challenge', { id_challenge: challenge, score: fc.integer({ min: 0, max: 40 }), partiel: gone })

/** A change of one record, mostly a small one. */
const anyLine = fc.oneof(
  { weight: 6, arbitrary: solve },
  { weight: 2, arbitrary: record('validation', { id_auteur: auteur, id_challenge: challenge, supprime: gone }) },
  { weight: 5, arbitrary: rename },
  { weight: 2, arbitrary: record('auteur', { id_auteur: auteur, statut: fc.constantFrom(...STATUTS), partiel: gone }) },
  { weight: 2, arbitrary: record('auteur', { id_auteur: auteur, score: fc.integer({ max: 90 }), partiel: gone }) },
  { weight: 2, arbitrary: record('auteur', { id_auteur: auteur, groupe: fc.constantFrom(...GROUPES), partiel: gone }) },
  { weight: 1, arbitrary: record('auteur', { id_auteur: fc.integer({ min: 500, max: 520 }), nom: fc.constant('x') }) },
  { weight: 1, arbitrary: record('auteur', { id_auteur: auteur, supprime: gone }) },
  { weight: 2, arbitrary: rescore },
  {
    weight: 2,
    arbitrary: record('challenge', {
      ...{ id_challenge: challenge, id_rubrique: rubrique, titre: fc.constantFrom('t', 'ar'), score: fc.nat(40) },
      auteurs: fc.array(auteur, { maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: record('challenge', { id_challenge: challenge, supprime: gone }) },
  { weight: 2, arbitrary: record('rubrique', { id_rubrique: rubrique, nom: fc.constantFrom('r', 's') }) },
  { weight: 1, arbitrary: record('rubrique', { id_rubrique: rubrique, supprime: gone }) },
)
const environnement = record('environnement_virtuel', {
  id_environnement_virtuel: fc.constantFrom(1, 2, 99),
  nom: fc.constantFrom('e', 'f'),
})

/** Live lines, an import, or a setting. */
const anyChange: fc.Arbitrary<(store: Store) => Promise<unknown>> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.array(anyLine, { minLength: 1, maxLength: 2 }).map((lines) => (store: Store) => {
      return ingest(
        store,
        lines.map((line, i) => ({ number: i + 1, text: JSON.stringify(line) })),
      )
    }),
  },
  {
    weight: 1,
    arbitrary: fc.oneof(environnement, rename).map(({ partiel: _, ...line }) => (store: Store) => {
      return importInto(store, [line])
    }),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom<TieBreak>('aucun', 'date')
      .map((departage) => (store: Store) => changeSetting(store, 'departage', departage)),
  },
  {
    weight: 1,
    arbitrary: fc
      .subarray(STATUTS)
      .map((statuts) => (store: Store) => changeSetting(store, 'statuts_masques', statuts)),
  },
)
