import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TieBreak } from '../src/model/store-settings.js'
import { changeGel, changeSetting } from '../src/portal/settings.js'
import { everythingOf, expectAsRecords } from './compare.js'
import { randomPortal } from './fixtures.js'
import {
  addAccount,
  addKey,
  type DumpLine,
  engines,
  importInto,
  OPERATOR,
  startServer,
  type TestServer,
} from './harness.js'
import { Model } from './model.js'
import { partialLines } from './partial-lines.js'
import { shareOf } from './share.js'

/** More authors than a node of a ranking can hold, so that nodes are split. */
const START = randomPortal({ seed: 11, auteurs: 150, challenges: 12, validations: 200, scores: 6 })

describe.each(engines)('on %s, POST /validations', (engine) => {
  let server: TestServer
  let key: string

  beforeAll(async () => {
    server = await startServer(START, { engine })
    await addAccount(server.store, OPERATOR)
    key = await addKey(server.store, OPERATOR.login, { portee: ['ecriture'] })
  })
  afterAll(() => server.close())

  const post = async (lines: DumpLine[]) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' }
    const body = lines.map((line) => JSON.stringify(line)).join('\n')
    const response = await server.anonymous('/validations', { method: 'POST', headers, body })
    expect(response.status).toBe(200)
    expect(((await response.json()) as { lignes: unknown[] }).lignes).toHaveLength(lines.length)
  }

  test('changes every response to the next request, and every cached response is right after any lines', async () => {
    const targets = everythingOf(new Model(START))
    const anyLines = fc.array(anyLiveLine, { minLength: 1, maxLength: 6 })
    const anyBatches = fc.array(fc.tuple(anyGel, anyLines), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(anyBatches, fc.constantFrom<TieBreak>('aucun', 'date'), async (batches, departage) => {
        await importInto(server.store, START, { replace: true })
        await changeSetting(server.store, 'departage', departage)
        await expectAsRecords(server, targets, departage)
        for (const [gel, lines] of batches) {
          await changeGel(server.store, gel)
          await expectAsRecords(server, targets, departage)
          await post(lines)
          await expectAsRecords(server, targets, departage)
          await post(lines)
          await expectAsRecords(server, targets, departage)
        }
        await changeGel(server.store, undefined)
        await expectAsRecords(server, targets, departage)
      }),
      { numRuns: shareOf(4) },
    )
  })
})

const lineIds = (type: string, name: string) =>
  fc.constantFrom(...START.filter((line) => line.type === type).map((line) => line[name] as number), 424_242)
const auteurId = lineIds('auteur', 'id_auteur')
const challengeId = lineIds('challenge', 'id_challenge')
const anyDate = fc.constantFrom(
  ...['2024-01-05T00:00:00Z', '2024-02-29T23:59:59Z', '2026-03-01T00:00:00Z', '0000-06-01T00:00:00Z', null],
)
/** Mostly no freeze; otherwise one that hides some of these dates. */
const anyGel = fc.constantFrom(undefined, undefined, '2024-01-01T00:00:00Z', '2024-02-29T23:59:59Z')
const statut = fc.constantFrom('6forum', '5poubelle', '')
const points = fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined })

const anyLine: fc.Arbitrary<DumpLine> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('validation'),
      id_auteur: auteurId,
      id_challenge: challengeId,
      date: anyDate,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      ...{ type: fc.constant('validation'), id_auteur: auteurId, id_challenge: challengeId },
      supprime: fc.constant(true),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('auteur'),
      id_auteur: auteurId,
      nom: fc.constantFrom('n', 'É'),
      statut,
      groupe: fc.constantFrom('', 'Nord', 'nord', 'Été', 'x'),
      score: points,
      score_base: fc.option(fc.integer({ min: -20, max: 60 }), { nil: undefined }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ type: fc.constant('challenge'), id_challenge: challengeId, id_rubrique: fc.constantFrom(1, 1, 2, 9) },
      ...{
        titre: fc.constantFrom('t', 'ar'),
        score: fc.integer({ min: 0, max: 40 }),
        auteurs: fc.array(auteurId, { maxLength: 2 }),
      },
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('challenge'), id_challenge: challengeId, supprime: fc.constant(true) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('rubrique'),
      id_rubrique: fc.constantFrom(1, 2, 9),
      nom: fc.constantFrom('r', 's'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      ...{ type: fc.constant('rubrique'), id_rubrique: fc.constantFrom(1, 2, 9), supprime: fc.constant(true) },
    }),
  },
) as fc.Arbitrary<DumpLine>

const anyLiveLine = fc.oneof(
  { weight: 4, arbitrary: anyLine },
  { weight: 3, arbitrary: partialLines(anyLine) },
  { weight: 1, arbitrary: auteurId.map((id_auteur): DumpLine => ({ type: 'auteur', id_auteur, supprime: true })) },
)
