import { statement } from '../store/query.js'
import type { Db } from '../store/store.js'
import type { CompteRow } from './comptes-queries.js'
import { DELETED_AT_ONCE } from './deletion.js'

/** An account, and when it last signed in from an address; null where it never did. */
export type CompteFrom = CompteRow & { vue: number | null }

/** The account of a login, as it is known from an address. */
export function findCompteFrom(db: Db, login: string, adresse: string): Promise<CompteFrom | undefined> {
  return db.get(findFrom, { login, adresse })
}

const findFrom = statement<{ login: string; adresse: string }>()((q, p) =>
  q
    .selectFrom('comptes')
    .leftJoin('adresses_connues as a', (join) =>
      join.onRef('a.id_compte', '=', 'comptes.id_compte').on('a.adresse', '=', p.adresse),
    )
    .selectAll('comptes')
    .select('vue')
    .where('login', '=', p.login),
)

/** Notes that an account signed in from an address, and forgets all but its latest ones. */
export async function rememberAddress(
  db: Db,
  row: { id_compte: number; adresse: string; vue: number },
  kept: number,
): Promise<void> {
  await db.run(
    db.q
      .insertInto('adresses_connues')
      .values(row)
      .onConflict((same) => same.columns(['id_compte', 'adresse']).doUpdateSet({ vue: row.vue })),
  )
  const own = db.q.selectFrom('adresses_connues').select('adresse').where('id_compte', '=', row.id_compte)
  await db.run(
    db.q
      .deleteFrom('adresses_connues')
      .where('id_compte', '=', row.id_compte)
      .where('adresse', 'in', own.orderBy('vue', 'desc').limit(DELETED_AT_ONCE).offset(kept)),
  )
}
