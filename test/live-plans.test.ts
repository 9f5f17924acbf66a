import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ingest } from '../src/portal/live/ingest.js'
import { openStore } from '../src/store/open.js'
import type { Store } from '../src/store/store.js'
import { type DumpLine, engines, importInto, makePlace } from './harness.js'
import { pretendLarge, walksOf, watching } from './plans.js'

const validation = { type: 'validation', id_auteur: 5, id_challenge: 1, date: '2025-03-01T00:00:00Z' }
const challenge = { type: 'challenge', id_challenge: 1, id_rubrique: 1, titre: 't', score: 10 }
const auteur = { type: 'auteur', id_auteur: 6, nom: 'a6' }

const PORTAL: DumpLine[] = [
  ...[1, 2, 3].map((id) => ({ type: 'rubrique', id_rubrique: id, nom: 'r' })),
  ...Array.from({ length: 300 }, (_, i) => ({ type: 'auteur', id_auteur: i + 1, nom: `a${i}`, score: i % 9 })),
  ...Array.from({ length: 90 }, (_, i) => ({ ...challenge, id_challenge: i + 1, auteurs: [1 + (i % 7)] })),
  ...Array.from({ length: 900 }, (_, i) => ({
    ...{ ...validation, id_auteur: 10 + (i % 280), id_challenge: 1 + ((i * 7) % 90) },
  })),
]

/** Lines that together use every rule. */
const batches: Record<string, DumpLine[]> = {
  'a solve': [validation],
  'a solve with another date': [{ ...validation, date: '2024-12-31T00:00:00Z' }],
  'a solve that is removed': [{ ...validation, supprime: true }],
  'many solves': Array.from({ length: 300 }, (_, i) => ({
    ...validation,
    id_auteur: i + 1,
    id_challenge: 1 + (i % 90),
  })),
  'an author': [
    { ...auteur, score: 40 },
    { ...auteur, id_auteur: 1_000 },
  ],
  'an author without a place': [{ ...auteur, statut: '5poubelle' }],
  'a challenge': [{ ...challenge, id_challenge: 500, auteurs: [1, 2] }],
  'a challenge with a lower score': [{ ...challenge, score: 3, auteurs: [3] }],
  'a challenge in another category': [{ ...challenge, id_rubrique: 2 }],
  'a challenge that is removed': [{ type: 'challenge', id_challenge: 2, supprime: true }],
  'a category': [{ type: 'rubrique', id_rubrique: 9, nom: 'r' }],
  'a category that is removed': [{ type: 'rubrique', id_rubrique: 3, supprime: true }],
  'an author who is removed': [{ type: 'auteur', id_auteur: 11, supprime: true }],
  'some fields of an author': [
    { type: 'auteur', id_auteur: 12, statut: '6forum', partiel: true },
    { type: 'auteur', id_auteur: 13, score: 7, partiel: true },
  ],
  'some fields of a challenge': [{ type: 'challenge', id_challenge: 3, score: 4, partiel: true }],
  'some fields of a solve': [{ ...validation, id_auteur: 10, date: '2024-12-31T00:00:00Z', partiel: true }],
  'some fields of missing records': [
    { ...challenge, id_challenge: 99_999, partiel: true },
    { ...auteur, id_auteur: 99_999, partiel: true },
  ],
  'lines that are refused': [
    ...[
      { ...validation, id_auteur: 99_999 },
      { ...validation, id_challenge: 99_999 },
      { ...challenge, id_rubrique: 99 },
    ],
    ...[
      { ...challenge, auteurs: [99_999] },
      { type: 'rubrique', id_rubrique: 1, supprime: true },
    ],
  ],
}

describe.each(engines)('on %s, no statement of live lines scans a table that grows with the authors', (engine) => {
  let place: { url: string; remove(): unknown }
  let store: Store
  beforeAll(async () => {
    place = await makePlace(engine)
    // Opened as a command opens it: SQLite runs in this thread, where its plans can be read.
    store = await openStore(place.url, { create: true })
    await importInto(store, PORTAL)
    if (engine === 'postgres') await store.write({}, pretendLarge)
  })
  afterAll(async () => {
    await store.close()
    await place.remove()
  })

  test.each(Object.entries(batches))('%s', async (_, batch) => {
    const lines = batch.map((line, i) => ({ number: i + 1, text: JSON.stringify(line) }))
    const walks: string[] = []
    let statements = 0
    const watched = watching(store, async (db, sql, values) => {
      statements++
      for (const walk of await walksOf(db, sql, values, TABLES)) walks.push(`${walk}: ${sql}`)
    })
    const results = await ingest(watched, lines)
    expect(results).toHaveLength(lines.length)
    expect(statements).toBeGreaterThan(3)
    expect(walks).toEqual([])
  })
})

/** Tables that grow with the authors and their solves. Challenges, their authors and categories are few. */
const TABLES = ['auteurs', 'validations', 'classements', 'noeuds']
