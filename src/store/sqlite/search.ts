import { type RawBuilder, sql } from 'kysely'
import { searchIndexOf } from '../search-index.js'
import type { Search } from '../store.js'

/** FTS5 walks the rows of every trigram of a needle side by side; past so many of them, walking the table is faster. */
const MAX_RARE_ROWS = 30_000

/** The trigrams of shorter needles are so few that this never happens. */
const MIN_PROBED_CODE_POINTS = 6

/** Text search by an FTS5 index of trigrams, which every search table keeps by triggers. */
export const search: Search = {
  minIndexedCodePoints: 3,
  contains: (column, needle) => sql`instr(${column}, ${needle}) > 0`,
  isRare(table, needles, isAlone) {
    if (isAlone && Object.values(needles).some((needle) => [...needle].length < MIN_PROBED_CODE_POINTS))
      return undefined
    const probes = Object.entries(needles).flatMap(([column, needle]) =>
      trigramsOf(needle).map((part) => [column, part]),
    )
    const cases = probes.map(
      ([column = '', part = '']) =>
        sql`when (select count(*) from (select 1 from ${matching(table, { [column]: part })} limit ${MAX_RARE_ROWS}))
          < ${MAX_RARE_ROWS} then 1`,
    )
    return sql`case ${sql.join(cases, sql` `)} else 0 end`
  },
  matches: (table, _id, needles) => sql`(select rowid as id from ${matching(table, needles)})`,
}

/** The rows of a table's index whose columns contain the needles. */
function matching(table: string, needles: Readonly<Record<string, string>>): RawBuilder<unknown> {
  const index = sql.table(searchIndexOf(table))
  const match = Object.entries(needles)
    .map(([column, needle]) => `${column} : "${needle.replaceAll('"', '""')}"`)
    .join(' AND ')
  return sql`${index} where ${index} match ${match}`
}

/** The first three characters of a needle, those in its middle and its last. */
function trigramsOf(needle: string): string[] {
  const points = [...needle]
  const last = points.length - 3
  return [...new Set([0, Math.floor(last / 2), last])].map((start) => points.slice(start, start + 3).join(''))
}
