import { type Selectable, sql } from 'kysely'
import { statement } from '../store/query.js'
import type { Db } from '../store/store.js'
import type { Tables } from '../store/tables.js'

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

export type CompteRow = Selectable<Tables['comptes']>
export type CleRow = Selectable<Tables['cles_api']>

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

export const findCle = statement<{ empreinte: string }>()((q, p) =>
  q
    .selectFrom('cles_api')
    .innerJoin('comptes', 'comptes.id_compte', 'cles_api.id_compte')
    .select(['empreinte', 'comptes.id_compte', 'id_auteur', 'operateur', 'desactive'])
    .select(['id_cle', 'cles_api.creation', 'expiration', 'derniere_utilisation', 'revocation', 'portee'])
    .where('empreinte', '=', p.empreinte),
)

const findCompteStatement = statement<{ login: string }>()((q, p) =>
  q.selectFrom('comptes').selectAll().where('login', '=', p.login),
)

export function findCompte(db: Db, login: string): Promise<CompteRow | undefined> {
  return db.get(findCompteStatement, { login })
}

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
      .where('adresse', 'in', own.orderBy('vue', 'desc').limit(FORGOTTEN_AT_ONCE).offset(kept)),
  )
}

/** Forgets some addresses where nobody has signed in since an instant. */
export async function purgeAddresses(db: Db, before: number): Promise<void> {
  await deleteSome(db, 'adresses_connues', 'id_compte, adresse', 'vue', before)
}

/** An account that is not disabled, asked for by a session that has not ended where one is given. */
export function findLiveCompte(db: Db, idCompte: number, session?: string): Promise<CompteRow | undefined> {
  let query = db.q.selectFrom('comptes').selectAll().where('id_compte', '=', idCompte).where('desactive', '=', 0)
  if (session !== undefined) {
    const live = db.q.selectFrom('sessions').select('id_compte').where('empreinte', '=', session)
    query = query.where('id_compte', 'in', live.where('revocation', 'is', null))
  }
  return db.get(query)
}

/** What an account is called, and its author. */
export function findNames(db: Db, idCompte: number): Promise<{ login: string; nom: string } | undefined> {
  return db.get(selectNames, { id: idCompte })
}

const selectNames = statement<{ id: number }>()((q, p) =>
  q
    .selectFrom('comptes')
    .innerJoin('auteurs', 'auteurs.id_auteur', 'comptes.id_auteur')
    .select(['login', 'nom'])
    .where('id_compte', '=', p.id),
)

export function listComptes(db: Db): Promise<CompteRow[]> {
  return db.all(db.q.selectFrom('comptes').selectAll().orderBy('login'))
}

export async function insertCompte(db: Db, compte: Omit<CompteRow, 'id_compte'>): Promise<void> {
  await db.run(db.q.insertInto('comptes').values(compte as CompteRow))
}

export async function setPassword(db: Db, idCompte: number, motDePasse: string): Promise<void> {
  await db.run(db.q.updateTable('comptes').set({ mot_de_passe: motDePasse }).where('id_compte', '=', idCompte))
}

export async function setDisabled(db: Db, idCompte: number, desactive: boolean): Promise<void> {
  await db.run(
    db.q
      .updateTable('comptes')
      .set({ desactive: desactive ? 1 : 0 })
      .where('id_compte', '=', idCompte),
  )
}

/** Removes an account with its sessions, keys and known addresses. Gives the credentials that this ended. */
export async function removeCompte(db: Db, idCompte: number, now: number): Promise<string[]> {
  const ended = await revokeAll(db, idCompte, now)
  for (const table of ['sessions', 'cles_api', 'adresses_connues', 'comptes'] as const) {
    await db.run(db.q.deleteFrom(table).where('id_compte', '=', idCompte))
  }
  return ended
}

/** Ends every session and key of an account. Gives those that ended. */
export async function revokeAll(db: Db, idCompte: number, now: number): Promise<string[]> {
  const ended: string[] = []
  for (const table of ['sessions', 'cles_api'] as const) {
    const live = await db.all(
      db.q.selectFrom(table).select('empreinte').where('id_compte', '=', idCompte).where('revocation', 'is', null),
    )
    ended.push(...live.map(({ empreinte }) => empreinte))
    await db.run(
      db.q
        .updateTable(table)
        .set({ revocation: now })
        .where('id_compte', '=', idCompte)
        .where('revocation', 'is', null),
    )
  }
  return ended
}

export async function insertSession(
  db: Db,
  session: { empreinte: string; id_compte: number; id_cle?: number | null; now: number },
): Promise<void> {
  const { empreinte, id_compte, id_cle = null, now } = session
  await db.run(
    db.q
      .insertInto('sessions')
      .values({ empreinte, id_compte, id_cle, creation: now, derniere_utilisation: now, revocation: null }),
  )
}

/** Ends a session. Gives it where it was live. */
export async function endSession(db: Db, empreinte: string, now: number): Promise<string[]> {
  const session = await db.get(db.q.selectFrom('sessions').select('revocation').where('empreinte', '=', empreinte))
  if (session?.revocation !== null) return []
  await db.run(db.q.updateTable('sessions').set({ revocation: now }).where('empreinte', '=', empreinte))
  return [empreinte]
}

/** Ends the sessions that a password of an account made, or one of its keys, but the latest ones. Gives those that ended. */
export async function endOldSessions(
  db: Db,
  { id_compte, id_cle = null }: { id_compte: number; id_cle?: number | null },
  kept: number,
  now: number,
): Promise<string[]> {
  const rows = await db.all(
    db.q
      .selectFrom('sessions')
      .select('empreinte')
      .where('id_compte', '=', id_compte)
      .where('id_cle', id_cle === null ? 'is' : '=', id_cle)
      .where('revocation', 'is', null)
      .orderBy('creation', 'desc')
      .limit(FORGOTTEN_AT_ONCE)
      .offset(kept),
  )
  const ended = rows.map(({ empreinte }) => empreinte)
  if (ended.length === 0) return []
  await db.run(db.q.updateTable('sessions').set({ revocation: now }).where('empreinte', 'in', ended))
  return ended
}

/** Forgets the sessions of a key that ended before the key did: a client may sign in by it at each of its requests. */
export async function purgeSessionsOfCle(db: Db, idCle: number): Promise<void> {
  await db.run(db.q.deleteFrom('sessions').where('id_cle', '=', idCle).where('revocation', 'is not', null))
}

/** Rows that one step deletes, so that it stays short. */
const FORGOTTEN_AT_ONCE = 100

/** Deletes sessions that were made before an instant, and those that were ended before another. Says whether there are more. */
export async function purgeSessions(db: Db, before: { creation: number; revocation: number }): Promise<boolean> {
  const deleted = [
    await deleteSome(db, 'sessions', 'empreinte', 'creation', before.creation),
    await deleteSome(db, 'sessions', 'empreinte', 'revocation', before.revocation),
  ]
  return deleted.some((count) => count === FORGOTTEN_AT_ONCE)
}

/** Deletes the rows of a table whose instant is before another, the oldest first, by its index. */
function deleteSome(
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

/** The live keys of an account, or of everybody, ascending. */
export function listCles(db: Db, now: number, idCompte?: number): Promise<(CleRow & { login: string })[]> {
  let query = db.q
    .selectFrom('cles_api')
    .innerJoin('comptes', 'comptes.id_compte', 'cles_api.id_compte')
    .selectAll('cles_api')
    .select('login')
    .where('revocation', 'is', null)
    .where('expiration', '>', now)
    .orderBy('id_cle')
  if (idCompte !== undefined) query = query.where('cles_api.id_compte', '=', idCompte)
  return db.all(query)
}

/** Inserts a key and returns it with its id. */
export async function insertCle(db: Db, cle: Omit<CleRow, 'id_cle'>): Promise<CleRow> {
  await db.run(db.q.insertInto('cles_api').values(cle as CleRow))
  return (await db.get(db.q.selectFrom('cles_api').selectAll().where('empreinte', '=', cle.empreinte))) as CleRow
}

/** How many live keys an account has. */
export async function countLiveCles(db: Db, idCompte: number, now: number): Promise<number> {
  const found = await db.get(countLive, { id: idCompte, now })
  return Number(found?.nb)
}

const countLive = statement<{ id: number; now: number }>()((q, p) =>
  q
    .selectFrom('cles_api')
    .select(({ fn }) => fn.countAll<number>().as('nb'))
    .where('id_compte', '=', p.id)
    .where('revocation', 'is', null)
    .where('expiration', '>', p.now),
)

/** Ends one live key, of one account or of any, and its sessions. Gives what ended, which is nothing where there is no such key. */
export async function revokeCle(db: Db, idCle: number, now: number, idCompte?: number): Promise<string[]> {
  let query = db.q
    .selectFrom('cles_api')
    .select('empreinte')
    .where('id_cle', '=', idCle)
    .where('revocation', 'is', null)
    .where('expiration', '>', now)
  if (idCompte !== undefined) query = query.where('id_compte', '=', idCompte)
  const cle = await db.get(query)
  if (!cle) return []
  await db.run(db.q.updateTable('cles_api').set({ revocation: now }).where('id_cle', '=', idCle))
  const sessions = db.q.selectFrom('sessions').select('empreinte').where('id_cle', '=', idCle)
  const ended = await db.all(sessions.where('revocation', 'is', null))
  return [cle.empreinte, ...ended.map(({ empreinte }) => empreinte)]
}

/** Deletes some keys that ended before an instant, one way or the other. */
export async function purgeCles(db: Db, before: number): Promise<void> {
  await deleteSome(db, 'cles_api', 'id_cle', 'expiration', before)
  await deleteSome(db, 'cles_api', 'id_cle', 'revocation', before)
}

/** Notes when sessions or keys were last used. */
export async function touch(
  db: Db,
  table: 'sessions' | 'cles_api',
  empreintes: readonly string[],
  at: number,
): Promise<void> {
  await db.run(db.q.updateTable(table).set({ derniere_utilisation: at }).where('empreinte', 'in', empreintes))
}
