import type { Db } from './store.js'

export interface Walk {
  /** What is read of each row; the columns of the key are among it. */
  columns: string
  /** The table, with what is joined to it. */
  from: string
  key: readonly string[]
  /** A key that comes before every row. */
  after: readonly (number | string)[]
  /** Rows read at a time. */
  rows: number
}

/**
 * Walks rows in the ascending order of a key that has an index, some at a time: each statement begins where the one before
 * ended, so the last row costs what the first does.
 */
export async function* walk<R>(db: Db, { columns, from, key, after, rows }: Walk): AsyncGenerator<R[]> {
  const list = key.join(', ')
  const places = key.map(() => '?').join(', ')
  const select = `select ${columns} from ${from} where (${list}) > (${places}) order by ${list} limit ${rows}`
  const names = key.map((column) => column.slice(column.indexOf('.') + 1) as keyof R)
  for (let last: unknown[] = [...after]; ; ) {
    const found = await db.select<R>(select, ...last)
    const end = found.at(-1)
    if (!end) return
    yield found
    if (found.length < rows) return
    last = names.map((name) => end[name])
  }
}
