import { sql } from 'kysely'
import { statement } from '../store/query.js'
import type { Db } from '../store/store.js'

/**
 * A session or a key with what its account says of it, as the guard holds it. For a session that was made from a key,
 * `expiration` and `portee` are the key's, and `revocation` is whichever of the two was ended.
 */
export interface CredentialRow {
  kind: 'session' | 'cle'
  empreinte: string
  id_compte: number
  id_auteur: number
  operateur: number
  desactive: number
  creation: number
  expiration: number | null
  derniere_utilisation: number | null
  revocation: number | null
  portee: string | null
}

/** The most credentials that one query finds. */
export const MAX_CREDENTIALS = 4

type Wanted = Record<`empreinte${1 | 2 | 3 | 4}`, string>

/** The sessions and keys of these digests; `""` is nobody's. */
export function findCredentials(db: Db, empreintes: readonly string[]): Promise<CredentialRow[]> {
  const [empreinte1 = '', empreinte2 = '', empreinte3 = '', empreinte4 = ''] = empreintes
  return db.all(selectCredentials, { empreinte1, empreinte2, empreinte3, empreinte4 })
}

const selectCredentials = statement<Wanted>()((q, p) => {
  const empreintes = [p.empreinte1, p.empreinte2, p.empreinte3, p.empreinte4]
  const sessions = q
    .selectFrom('sessions')
    .innerJoin('comptes', 'comptes.id_compte', 'sessions.id_compte')
    .leftJoin('cles_api', 'cles_api.id_cle', 'sessions.id_cle')
    .select([sql`'session'`.as('kind'), 'sessions.empreinte', 'comptes.id_compte'])
    .select(['id_auteur', 'operateur', 'desactive', 'sessions.creation', 'sessions.derniere_utilisation'])
    .select(['expiration', 'portee'])
    .select(({ fn }) => fn.coalesce('sessions.revocation', 'cles_api.revocation').as('revocation'))
    .where('sessions.empreinte', 'in', empreintes)
    .$castTo<CredentialRow>()
  const cles = q
    .selectFrom('cles_api')
    .innerJoin('comptes', 'comptes.id_compte', 'cles_api.id_compte')
    .select([sql`'cle'`.as('kind'), 'empreinte', 'comptes.id_compte'])
    .select(['id_auteur', 'operateur', 'desactive', 'cles_api.creation', 'derniere_utilisation'])
    .select(['expiration', 'portee', 'revocation'])
    .where('empreinte', 'in', empreintes)
    .$castTo<CredentialRow>()
  return sessions.unionAll(cles)
})

/** Notes when sessions or keys were last used. */
export async function touch(
  db: Db,
  table: 'sessions' | 'cles_api',
  empreintes: readonly string[],
  at: number,
): Promise<void> {
  await db.run(db.q.updateTable(table).set({ derniere_utilisation: at }).where('empreinte', 'in', empreintes))
}
