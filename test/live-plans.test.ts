import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ingest } from '../src/portal/live/ingest.js'
import { openStore } from '../src/store/open.js'
import { bind, compiledOf, type Parameters, type Statement } from '../src/store/query.js'
import type { Db, Store } from '../src/store/store.js'
import { type DumpLine, engines, importInto, makePlace } from './harness.js'
import { watchedStore } from './watched.js'

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

/** Lines that take every way through the rules. */
const batches: Record<string, DumpLine[]> = {
  'a solve': [validation],
  'a solve at another time': [{ ...validation, date: '2024-12-31T00:00:00Z' }],
  'a solve that is taken back': [{ ...validation, supprime: true }],
  'many solves': Array.from({ length: 300 }, (_, i) => ({
    ...validation,
    id_auteur: i + 1,
    id_challenge: 1 + (i % 90),
  })),
  'an author': [
    { ...auteur, score: 40 },
    { ...auteur, id_auteur: 1_000 },
  ],
  'an author who holds no place': [{ ...auteur, statut: '5poubelle' }],
  'a challenge': [{ ...challenge, id_challenge: 500, auteurs: [1, 2] }],
  'a challenge that is worth less': [{ ...challenge, score: 3, auteurs: [3] }],
  'a challenge of another category': [{ ...challenge, id_rubrique: 2 }],
  'a challenge that goes': [{ type: 'challenge', id_challenge: 2, supprime: true }],
  'a category': [{ type: 'rubrique', id_rubrique: 9, nom: 'r' }],
  'a category that goes': [{ type: 'rubrique', id_rubrique: 3, supprime: true }],
  'an author who goes': [{ type: 'auteur', id_auteur: 11, supprime: true }],
  'some fields of an author': [
    { type: 'auteur', id_auteur: 12, statut: '6forum', partiel: true },
    { type: 'auteur', id_auteur: 13, score: 7, partiel: true },
  ],
  'some fields of a challenge': [{ type: 'challenge', id_challenge: 3, score: 4, partiel: true }],
  'some fields of a solve': [{ ...validation, id_auteur: 10, date: '2024-12-31T00:00:00Z', partiel: true }],
  'some fields of what is not there': [
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

describe.each(engines)('on %s, no statement of live lines walks what grows with the authors', (engine) => {
  let place: { url: string; remove(): unknown }
  let store: Store
  beforeAll(async () => {
    place = await makePlace(engine)
    // One that does not serve: its connection is in this thread, where it can be asked for plans.
    store = await openStore(place.url, { create: true })
    await importInto(store, PORTAL)
    if (engine === 'postgres') await store.write({}, seemLarge)
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
      for (const walk of await walksOf(db, sql, values)) walks.push(`${walk}: ${sql}`)
    })
    const results = await ingest(watched, lines)
    expect(results).toHaveLength(lines.length)
    expect(statements).toBeGreaterThan(3)
    expect(walks).toEqual([])
  })
})

/** What a plan walks whole of what lasts; what a batch has put aside is its own. */
async function walksOf(db: Db, sql: string, values: unknown[]): Promise<string[]> {
  if (!/^\s*(select|insert|update|delete|with)\b/i.test(sql)) return []
  if (db.engine === 'sqlite') {
    const steps = (db as unknown as Planning).prepare(`explain query plan ${sql}`).statement.all(...values)
    // A key that is sought by its first column alone leads through all that share it.
    const walked = steps.map(
      ([, , , detail]) => /^(?:SCAN|SEARCH(?=.*\b(?:cle|cle_classement|date)[<>])) (\w+)/.exec(String(detail))?.[1],
    )
    return walked.filter((name) => name !== undefined && isOfPortal(name, sql)) as string[]
  }
  const [plan] = await db.select<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(`explain (format json) ${sql}`, ...values)
  return walksIn(plan!['QUERY PLAN'][0]!.Plan).filter((name) => isOfPortal(name, sql))
}

/** What a connection of SQLite does inside; its public calls take no `explain`. */
interface Planning {
  prepare(sql: string): { statement: { all(...values: unknown[]): unknown[][] } }
}

/** Tells PostgreSQL's planner that each page of a table holds millions of rows: what is small it may well walk. */
async function seemLarge(db: Db): Promise<void> {
  await db.exec(
    `update pg_class set reltuples = 10000000 where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace`,
  )
}

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Cond'?: string
  Plans?: PlanNode[]
}

function walksIn(node: PlanNode): string[] {
  // A condition such as `is not null` seeks nothing.
  const isWalk = /^(Seq Scan|Index)/.test(node['Node Type']) && !/[=<>]/.test(node['Index Cond'] ?? '')
  const own = isWalk && node['Relation Name'] ? [node['Relation Name']] : []
  return [...own, ...(node.Plans ?? []).flatMap(walksIn)]
}

/** What grows with the authors and what they solve; challenges, who wrote them and categories are few. */
const TABLES = ['auteurs', 'validations', 'classements', 'noeuds']

/** A name of a plan is that of a table or, on SQLite, an alias of one. */
function isOfPortal(name: string, sql: string): boolean {
  const table = new RegExp(`(?:from|join|update|into)\\s+(\\w+)\\s+(?:as\\s+)?${name}\\b`, 'i').exec(sql)?.[1] ?? name
  return TABLES.includes(table)
}

type Look = (db: Db, sql: string, values: unknown[]) => Promise<void>

/** The store, whose writes show each statement before they run it. */
function watching(store: Store, look: Look): Store {
  return watchedStore(store, (db) => {
    const plain = db as unknown as Record<string, (...given: unknown[]) => Promise<never>>
    const query =
      (name: string) =>
      async (query: Statement<Parameters, unknown>, given: Parameters = {}) => {
        const compiled = compiledOf(query, db.engine)
        await look(db, compiled.sql, bind(compiled, given))
        return plain[name]!.call(db, query, given)
      }
    const text =
      (name: string) =>
      async (sql: string, ...values: unknown[]) => {
        await look(db, sql, values)
        return plain[name]!.call(db, sql, ...values)
      }
    const of = { all: query('all'), get: query('get'), run: query('run'), exec: text('exec'), select: text('select') }
    return of as unknown as Partial<Db>
  })
}
