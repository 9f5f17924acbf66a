import type { Kind } from '../../model/kind.js'
import type { Db } from '../../store/store.js'
import { type Walk, walk } from '../../store/walk.js'

/** A row of a table, or what is exported of it: then its fields are in the order of the wire. */
export type Row = Record<string, unknown>
/** Adds to rows what the table does not have. */
export type Complete = (db: Db, rows: Row[]) => Row[] | Promise<Row[]>

/** Rows read at a time: so few that what becomes of them holds the event loop a few milliseconds at most. */
export const SHORT_ROWS = 500
/** The same of rows that may hold texts of a million characters. */
const LONG_ROWS = 20

export function rowsAtOnce({ isLong }: Kind): number {
  return isLong ? LONG_ROWS : SHORT_ROWS
}

/** What a walk finds, as it is exported. */
export async function* walked(
  db: Db,
  where: Walk,
  complete: Complete | undefined,
  present: (row: Row) => Row,
): AsyncGenerator<Row[]> {
  for await (const rows of walk<Row>(db, where)) yield (complete ? await complete(db, rows) : rows).map(present)
}

/** Adds the list of a kind: for each row the ids, ascending. */
export function completeLists({ key, list }: Kind): Complete | undefined {
  const [own, item] = [key[0], list?.columns[0]]
  if (!list || !own || !item) return undefined
  return async (db, rows) => {
    const listed = await db.select<Record<string, number>>(
      `select ${own}, ${item} from ${list.table} where ${own} between ? and ? order by ${own}, ${item}`,
      ...range(rows, own),
    )
    const items = groupBy(listed, (row) => row[own] as number)
    return rows.map((row) => ({
      ...row,
      [list.field]: (items.get(row[own] as number) ?? []).map((each) => each[item]),
    }))
  }
}

/** The first and the last value of a column that the rows are in the order of. */
export function range(rows: Row[], column: string): [unknown, unknown] {
  return [rows[0]?.[column], rows.at(-1)?.[column]]
}

export function groupBy<R>(rows: R[], keyOf: (row: R) => number): Map<number, R[]> {
  const groups = new Map<number, R[]>()
  for (const row of rows) {
    const group = groups.get(keyOf(row))
    if (group) group.push(row)
    else groups.set(keyOf(row), [row])
  }
  return groups
}
