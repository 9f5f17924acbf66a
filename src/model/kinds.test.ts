import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines, makeStore } from '../../test/harness.js'
import type { Db, Store } from '../store/store.js'
import { columnsOf, type Kind } from './kind.js'
import { KINDS } from './kinds.js'

interface Found {
  name: string
  type: string
  isNullable: boolean
}

describe.each(engines)('the tables that the migrations create on %s', (engine) => {
  let store: Store
  let close: () => Promise<void>
  beforeAll(async () => {
    const made = await makeStore(engine)
    store = made.store
    close = made.close
  })
  afterAll(() => close())

  test.each<Kind>([...KINDS])('have the columns of the model of $table', async (kind) => {
    const found = await store.read((db) => findColumns(db, kind.table))
    const described = Object.entries(columnsOf(kind)).map(([name, { type, isNullable }]) => ({
      name,
      type,
      isNullable,
    }))
    expect(found.sort(byName)).toEqual(described.sort(byName))
  })

  test.each<Kind>([...KINDS])('have a unique key on the key of $table', async ({ table, key }) => {
    const unique = await store.read((db) => findUnique(db, table))
    expect(unique).toContainEqual(key)
  })

  test.each<Kind>([...KINDS])('have the columns that the list of $table reads', async ({ list }) => {
    if (!list) return
    const found = await store.read((db) => findColumns(db, list.table))
    expect(found.map(({ name }) => name)).toEqual(expect.arrayContaining([...list.columns]))
  })

  test.each<Kind>([...KINDS])('have a search index on the folded columns of $table, if it has any', async (kind) => {
    expect(await store.read((db) => findSearched(db, kind.table))).toEqual(kind.searched)
  })
})

const byName = (one: Found, other: Found) => (one.name < other.name ? -1 : 1)

async function findColumns(db: Db, table: string): Promise<Found[]> {
  const rows = await db.select<{ name: string; type: string; nullable: number }>(
    db.engine === 'sqlite'
      ? `select name, type, "notnull" = 0 and pk = 0 as nullable from pragma_table_info(?)`
      : `select column_name as name, data_type as type, (is_nullable = 'YES')::int as nullable
         from information_schema.columns where table_schema = current_schema() and table_name = ?`,
    table,
  )
  return rows.map(({ name, type, nullable }) => ({
    name,
    type: /int/i.test(type) ? 'integer' : type.toLowerCase(),
    isNullable: Number(nullable) === 1,
  }))
}

/** The unique lists of columns, including the primary key. */
async function findUnique(db: Db, table: string): Promise<string[][]> {
  const rows = await db.select<{ index: string; name: string }>(
    db.engine === 'sqlite'
      ? `select i.name as "index", c.name from pragma_index_list(?) i, pragma_index_info(i.name) c where i."unique" = 1
         union all select 'key', name from pragma_table_info('${table}') where pk > 0`
      : `select i.indexrelid::text as index, a.attname as name
         from pg_index i, unnest(i.indkey) with ordinality as k (number, place), pg_attribute a
         where i.indrelid = to_regclass(?) and i.indisunique and a.attrelid = i.indrelid and a.attnum = k.number
         order by i.indexrelid, k.place`,
    table,
  )
  return [...new Set(rows.map(({ index }) => index))].map((index) =>
    rows.filter((row) => row.index === index).map(({ name }) => name),
  )
}

async function findSearched(db: Db, table: string): Promise<string[]> {
  const rows = await db.select<{ name: string }>(
    db.engine === 'sqlite'
      ? 'select name from pragma_table_info(?)'
      : 'select attname as name from pg_attribute where attrelid = to_regclass(?) order by attnum',
    `${table}_recherche`,
  )
  return rows.map(({ name }) => name)
}
