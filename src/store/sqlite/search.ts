import { sql } from 'kysely'
import type { Search } from '../store.js'

/** Text search by an FTS5 index of trigrams, which every search table keeps by triggers. */
export const search: Search = {
  minIndexedCodePoints: 3,
  contains: (column, needle) => sql`instr(${column}, ${needle}) > 0`,
  matches(table, _id, needles) {
    const index = sql.table(`${table}_recherche`)
    const match = Object.entries(needles)
      .map(([column, needle]) => `${column} : "${needle.replaceAll('"', '""')}"`)
      .join(' AND ')
    return sql`(select rowid as id from ${index} where ${index} match ${match})`
  },
}
