import type { Db } from '../store/store.js'

/** Rows that one step deletes, so that it stays short. */
export const DELETED_AT_ONCE = 100

const KEYS = { sessions: 'empreinte', cles_api: 'id_cle', adresses_connues: 'id_compte, adresse' } as const

/** Deletes some rows of a table whose instant is before another, the oldest first, by its index. Says whether there may be more. */
export async function deleteSome(
  db: Db,
  table: keyof typeof KEYS,
  column: 'creation' | 'expiration' | 'revocation' | 'vue',
  before: number,
): Promise<boolean> {
  const oldest = `select ${KEYS[table]} from ${table} where ${column} < ? order by ${column} limit ${DELETED_AT_ONCE}`
  const deleted = await db.exec(`delete from ${table} where (${KEYS[table]}) in (${oldest})`, before)
  return deleted === DELETED_AT_ONCE
}
