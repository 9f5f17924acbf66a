import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { portail } from '../../test/fixtures.js'
import { engines, importInto, startServer, type TestServer } from '../../test/harness.js'
import { classement } from '../store/orders.js'
import { bind, compile, type Statement } from '../store/query.js'
import { openDriver } from '../store/sqlite/driver.js'
import type { Db } from '../store/store.js'
import { findAmong, findRanked } from './rank.js'

interface Ranked {
  place: number
  nom: string
  score: string
  id_auteur: string
}

describe.each(engines)('the ranking on %s', (engine) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(portail, { engine })
  })
  afterAll(() => server.close())

  const rows = (query: string) => server.json<Ranked[]>(`/classement?${query}`)

  test('has its fields in one order, place as a number, score as a text of digits, ordered by score and then id', async () => {
    expect(await (await server.get('/classement')).text()).toBe(
      [
        '[{"place":1,"nom":"alice","score":"120","id_auteur":"1"},',
        String.raw`{"place":1,"nom":"O'Brien \"50%_\"","score":"120","id_auteur":"3"},`,
        String.raw`{"place":3,"nom":"\u00c9lodie \ud83d\ude00","score":"70","id_auteur":"2"},`,
        String.raw`{"place":3,"nom":"\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2","score":"70","id_auteur":"4"},`,
        String.raw`{"place":3,"nom":"DEL\u007f\u0080","score":"70","id_auteur":"7"},`,
        '{"place":3,"nom":"a%b","score":"70","id_auteur":"8"},',
        String.raw`{"place":7,"nom":"E\u0301LODIE","score":"35","id_auteur":"10"},`,
        String.raw`{"place":8,"nom":"<b>Zo\u00e9 & Cie</b>","score":"30","id_auteur":"5"},`,
        String.raw`{"place":8,"nom":"\ufb01n du monde","score":"30","id_auteur":"12"},`,
        String.raw`{"place":10,"nom":"a_b\\c/d","score":"10","id_auteur":"9"},`,
        String.raw`{"place":11,"nom":"\u65e5\u672c\u8a9e","score":"0","id_auteur":"40"}]`,
      ].join(''),
    )
  })

  test('tied authors share one place on every page, wherever the page starts', async () => {
    const whole = await rows('')
    for (let debut = 0; debut <= whole.length; debut++) {
      for (const limite of [1, 2, 3, 500]) {
        expect(await rows(`debut_classement=${debut}&limite=${limite}`)).toEqual(whole.slice(debut, debut + limite))
      }
    }
  })

  test('the place of an author equals its position', async () => {
    for (const { id_auteur, place } of await rows('')) {
      expect(await server.json(`/auteurs/${id_auteur}`)).toMatchObject({ position: place })
    }
  })

  test('a hidden author has no place and moves nobody, whatever the case of its statut', async () => {
    const ranked = await rows('')
    expect(ranked.map(({ id_auteur }) => id_auteur)).not.toContain('6')
    expect(ranked[0]).toMatchObject({ place: 1, score: '120' })
  })

  test('a page past the end is an empty list', async () => {
    const response = await server.get('/classement?debut_classement=11')
    expect([response.status, await response.text(), response.headers.get('x-total-count')]).toEqual([200, '[]', '11'])
  })

  test('a portal without authors has an empty ranking', async () => {
    const other = await startServer([{ type: 'auteur', id_auteur: 1, nom: 'seul', statut: '5POUBELLE' }], { engine })
    expect(await (await other.get('/classement')).text()).toBe('[]')
    expect(await other.json('/auteurs/1')).toMatchObject({ position: 1 })
    await other.close()
  })

  test('the periods are the years and months with a ranking, latest first, ignoring authors without a place', async () => {
    const solved = (id_auteur: number, id_challenge: number, date?: string) => ({
      ...{ type: 'validation', id_auteur, id_challenge },
      ...(date && { date }),
    })
    const other = await startServer(
      [
        { type: 'rubrique', id_rubrique: 3, nom: 'r' },
        { type: 'auteur', id_auteur: 1, nom: 'a' },
        { type: 'auteur', id_auteur: 2, nom: 'b', statut: '5POUBELLE' },
        ...[1, 2, 3, 4].map((id) => ({
          type: 'challenge',
          id_challenge: id,
          id_rubrique: 3,
          titre: `c${id}`,
          score: 0,
        })),
        ...[
          solved(1, 1, '2024-12-31T23:59:59Z'),
          solved(1, 2, '2024-02-01T00:00:00Z'),
          solved(1, 3, '2026-01-01T00:00:00Z'),
        ],
        ...[solved(1, 4), solved(2, 1, '2025-05-05T00:00:00Z')],
      ],
      { engine },
    )
    const text = async () => (await other.get('/classement/periodes')).text()
    const in2024 = '{"periode":"2024","mois":["2024-02","2024-12"]}'
    expect(await text()).toBe(`[{"periode":"2026","mois":["2026-01"]},${in2024}]`)
    for (const [periode, rows] of [
      ['2026', 1],
      ['2025', 0],
      ['2024-12', 1],
      ['2024-11', 0],
    ] as const) {
      expect(await other.json(`/classement?periode=${periode}`)).toHaveLength(rows)
    }
    await importInto(other.store, [{ type: 'auteur', id_auteur: 1, nom: 'a', statut: '5POUBELLE' }])
    expect(await text()).toBe('[]')
    await other.close()
  })

  describe('autour_de', () => {
    test.each([
      ['8', 3, ['7', '8', '10']],
      ['8', 4, ['4', '7', '8', '10']],
      ['1', 4, ['1', '3', '2', '4']],
      ['3', 4, ['1', '3', '2', '4']],
      ['40', 4, ['12', '9', '40']],
      ['9', 1, ['9']],
    ])(
      '%s by %i: the page starts half a page before that author, never before the first row',
      async (id, limite, ids) => {
        const page = await rows(`autour_de=${id}&limite=${limite}`)
        expect(page.map(({ id_auteur }) => id_auteur)).toEqual(ids)
        const whole = await rows('')
        for (const row of page) expect(whole).toContainEqual(row)
      },
    )

    test('the default page has 100 rows', async () => {
      expect(await rows('autour_de=40')).toEqual(await rows(''))
    })

    test('an unknown or hidden author is a 404', async () => {
      for (const id of ['11', '6', '9007199254740991']) {
        const response = await server.get(`/classement?autour_de=${id}`)
        expect([response.status, await response.json()]).toMatchObject([404, { code: 'resource_not_found' }])
      }
    })

    test.each(['', '0', '-1', 'alice', '1.5'])('a malformed id, "%s", is a 400 that names it', async (id) => {
      const response = await server.get(`/classement?autour_de=${id}`)
      expect([response.status, await response.json()]).toMatchObject([400, { errors: [{ parameter: 'autour_de' }] }])
    })

    test('autour_de together with debut_classement is a 400, even at the first row', async () => {
      for (const query of ['autour_de=1&debut_classement=0', 'debut_classement=5&autour_de=11']) {
        expect((await server.get(`/classement?${query}`)).status).toBe(400)
      }
    })
  })

  test('a new solve moves its author, and everyone overtaken, in the next response', async () => {
    const other = await startServer(portail, { engine })
    await importInto(other.store, [
      { type: 'validation', id_auteur: 10, id_challenge: 3, date: '2025-04-01T00:00:00Z' },
    ])
    await importInto(other.store, [
      { type: 'validation', id_auteur: 10, id_challenge: 2, date: '2025-04-01T00:00:00Z' },
    ])
    const ranked = await other.json<Ranked[]>('/classement')
    expect(ranked.slice(2, 7).map(({ id_auteur, place }) => [id_auteur, place])).toEqual([
      ['2', 3],
      ['4', 3],
      ['7', 3],
      ['8', 3],
      ['10', 3],
    ])
    expect(ranked[7]?.place).toBe(8)
    await other.close()
  })
})

describe('among authors with equal scores, SQLite seeks directly to', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(portail)
  })
  afterAll(() => server.close())

  const plansOf = async (work: (db: Db) => Promise<unknown>) => {
    const asked = await server.store.read((db) => askedOf(db, work))
    const driver = openDriver(server.database.slice('sqlite:'.length), { readOnly: true, busyTimeoutMilliseconds: 0 })
    const plans = asked.map(({ sql }) => driver.prepare(`explain query plan ${sql}`).all() as { detail: string }[])
    driver.close()
    return plans.map((plan) => plan.map(({ detail }) => detail))
  }
  const from = 'auteurs_classement ((cle_classement,date_classement,rowid)>(?,?,?))'
  const inLeaf = ['CO-ROUTINE leaf', `SEARCH auteurs USING COVERING INDEX ${from}`, 'SCAN leaf']

  test('the first row of a page', async () => {
    expect(await plansOf((db) => findRanked(db, classement, 3))).toEqual([
      [`SEARCH auteurs USING INDEX ${from}`],
      inLeaf,
    ])
  })

  test('the rows before an author in their leaf', async () => {
    expect(await plansOf((db) => classement.rank(db, { cle: -70, id: 4 }))).toEqual([inLeaf])
  })

  test('some authors, and the rows before each in its leaf', async () => {
    const list = 'SCAN json_each VIRTUAL TABLE INDEX 1:'
    expect(await plansOf((db) => findAmong(db, [4, 5, 8]))).toEqual([
      ['SEARCH auteurs USING INTEGER PRIMARY KEY (rowid=?)', 'LIST SUBQUERY 1', list],
      ['MATERIALIZE r', list, 'SCAN r', 'CORRELATED SCALAR SUBQUERY 3', ...inLeaf],
    ])
  })
})

describe.runIf(engines.includes('postgres'))(
  'among 20,000 authors with equal scores, PostgreSQL seeks directly to',
  () => {
    const many = Array.from({ length: 20_000 }, (_, i) => ({
      type: 'auteur',
      id_auteur: i + 1,
      nom: `a${i}`,
      score: 70,
    }))
    /** A scan of their index alone reads more than fifty. */
    const FEW_BLOCKS = 20

    let server: TestServer
    beforeAll(async () => {
      server = await startServer(many, { engine: 'postgres' })
    })
    afterAll(() => server.close())

    /** The most blocks that a query on the authors reads, with a generic plan. */
    const blocksOf = (work: (db: Db) => Promise<unknown>) =>
      server.store.read(async (db) => {
        const asked = await askedOf(db, work)
        await db.exec('set local plan_cache_mode = force_generic_plan')
        const blocks: number[] = []
        for (const { sql, values } of asked) {
          const [plan] = await db.select<{
            'QUERY PLAN': { Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }[]
          }>(`explain (analyze, buffers, format json) ${sql}`, ...values)
          const { Plan } = plan!['QUERY PLAN'][0]!
          blocks.push(Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'])
        }
        return Math.max(...blocks)
      })

    test('the first row of a page', async () => {
      expect(await blocksOf((db) => findRanked(db, classement, 9_000))).toBeLessThan(FEW_BLOCKS)
    })

    test('the rows before an author in their leaf', async () => {
      expect(await blocksOf((db) => classement.rank(db, { cle: -70, id: 9_000 }))).toBeLessThan(FEW_BLOCKS)
    })

    test('some authors, and the rows before each in its leaf', async () => {
      expect(await blocksOf((db) => findAmong(db, [9_000, 5, 19_000]))).toBeLessThan(3 * FEW_BLOCKS)
    })
  },
)

/** Each distinct query on the authors that `work` runs, with the parameters of its first run. */
async function askedOf(
  db: Db,
  work: (db: Db) => Promise<unknown>,
): Promise<{ sql: string; values: readonly unknown[] }[]> {
  const spies = [vi.spyOn(db, 'all'), vi.spyOn(db, 'get')]
  await work(db)
  const calls = spies.flatMap((spy) => spy.mock.calls as unknown as [Statement<never, never>, never][])
  for (const spy of spies) spy.mockRestore()
  const asked = new Map<string, readonly unknown[]>()
  for (const [query, given] of calls) {
    const compiled = compile(query, db.engine)
    if (compiled.sql.includes('"auteurs"') && !asked.has(compiled.sql)) asked.set(compiled.sql, bind(compiled, given))
  }
  return [...asked].map(([sql, values]) => ({ sql, values }))
}
