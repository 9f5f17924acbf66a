import { sql } from 'kysely'
import { SEARCHED_KINDS } from '../../model/kinds.js'
import { SEARCH_SUFFIX, searchIndexOf } from '../search-index.js'
import type { Search } from '../store.js'
import type { Client } from './driver.js'

export const SEARCH_INDEXES = SEARCHED_KINDS.map(({ table }) => searchIndexOf(table))

/** Makes the search indexes that are missing. They need the extension pg_trgm to be there. */
export async function createSearchIndexes(client: Pick<Client, 'query'>): Promise<void> {
  for (const { table, searched } of SEARCHED_KINDS) {
    const list = searched.map((column) => `${column} gin_trgm_ops`).join(', ')
    await client.query(`create index if not exists ${searchIndexOf(table)} on ${table} using gin (${list})`)
  }
}

/** The search indexes that are there and can be used. */
export async function findSearchIndexes(client: Pick<Client, 'query'>): Promise<string[]> {
  const { rows } = await client.query<{ nom: string }>(
    'select relname as nom from pg_class join pg_index on indexrelid = pg_class.oid where relname = any($1) and indisvalid and pg_table_is_visible(pg_class.oid)',
    [SEARCH_INDEXES],
  )
  return rows.map(({ nom }) => nom)
}

/** Indexes that cannot be used: those of search, or all others. An interrupted rebuild leaves one under a name of its own. */
export async function findBrokenIndexes(client: Pick<Client, 'query'>, isOfSearch: boolean): Promise<string[]> {
  const { rows } = await client.query<{ nom: string }>(
    `select quote_ident(relname) as nom from pg_class join pg_index on indexrelid = pg_class.oid
     where not indisvalid and pg_table_is_visible(pg_class.oid) and (strpos(relname, '${SEARCH_SUFFIX}') > 0) = $1`,
    [isOfSearch],
  )
  return rows.map(({ nom }) => nom)
}

/** Text search by pg_trgm, https://www.postgresql.org/docs/current/pgtrgm.html; without it, row by row. */
export function searchOf(isIndexed: boolean): Search {
  return {
    minIndexedCodePoints: isIndexed ? 3 : Number.POSITIVE_INFINITY,
    contains: (column, needle) => sql`position(${needle} in ${column}) > 0`,
    matches(table, id, needles) {
      const conditions = Object.entries(needles).map(
        ([column, needle]) => sql`${sql.ref(column)} like ${`%${needle.replace(/[\\%_]/g, '\\$&')}%`}`,
      )
      return sql`(select ${sql.ref(id)} as id from ${sql.table(table)} where ${sql.join(conditions, sql` and `)})`
    },
  }
}
