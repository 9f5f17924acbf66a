import type { Db } from '../store/store.js'

/** Rows that one step deletes, so that it stays short. */
export const FORGOTTEN_AT_ONCE = 100

/** Deletes the rows of a table whose instant is before another, the oldest first, by its index. */
export function deleteSome(
  db: Db,
  table: 'sessions' | 'cles_api' | 'adresses_connues',
  key: string,
  column: string,
  before: number,
): Promise<number> {
  return db.exec(
    `delete from ${table} where (${key}) in (select ${key} from ${table} where ${column} < ? order by ${column} limit ${FORGOTTEN_AT_ONCE})`,
    before,
  )
}
