import type { Db } from '../store/store.js'

/**
 * The logins of the enabled operators. Their rows are locked until the transaction ends: of two that each remove one of the
 * last two, the second sees what the first did. Credential checks do not wait for it.
 */
export async function lockOperators(db: Db): Promise<string[]> {
  await db.exec(`update comptes set operateur = operateur where ${IS_OPERATOR}`)
  return findOperators(db)
}

/** The logins of the enabled operators. */
export async function findOperators(db: Db): Promise<string[]> {
  const rows = await db.select<{ login: string }>(`select login from comptes where ${IS_OPERATOR} order by login`)
  return rows.map(({ login }) => login)
}

const IS_OPERATOR = 'operateur = 1 and desactive = 0'
