import { type RawBuilder, sql } from 'kysely'

/** The shortest needle that the trigram index answers, in code points. */
export const MIN_INDEXED_CODE_POINTS = 3

/** The ids of the rows whose columns contain the needles, ascending, straight from the index. */
export function indexedMatches(table: string, needles: Record<string, string>): RawBuilder<{ id: number }> {
  const index = sql.table(`${table}_recherche`)
  const match = Object.entries(needles)
    .map(([column, needle]) => `${column} : "${needle.replaceAll('"', '""')}"`)
    .join(' AND ')
  return sql`(select rowid as id from ${index} where ${index} match ${match})`
}
