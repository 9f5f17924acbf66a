import { type Selectable, sql } from 'kysely'
import { statement } from '../store/query.js'
import type { Db } from '../store/store.js'
import type { CleApiTable, CompteTable } from '../store/tables.js'

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

export type CompteRow = Selectable<CompteTable>
export type CleRow = Selectable<CleApiTable>

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

/** Removes an account with its sessions and keys. */
export async function removeCompte(db: Db, idCompte: number): Promise<void> {
  for (const table of ['sessions', 'cles_api', 'comptes'] as const) {
    await db.run(db.q.deleteFrom(table).where('id_compte', '=', idCompte))
  }
}

/** Ends every session and key of an account. */
export async function revokeAll(db: Db, idCompte: number, now: number): Promise<void> {
  for (const table of ['sessions', 'cles_api'] as const) {
    await db.run(
      db.q
        .updateTable(table)
        .set({ revocation: now })
        .where('id_compte', '=', idCompte)
        .where('revocation', 'is', null),
    )
  }
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

export async function endSession(db: Db, empreinte: string, now: number): Promise<void> {
  await db.run(db.q.updateTable('sessions').set({ revocation: now }).where('empreinte', '=', empreinte))
}

/**
 * Ends the sessions that a password of an account made, or one of its keys, but the latest ones, and says how many it
 * ended.
 */
export function endOldSessions(
  db: Db,
  { id_compte, id_cle = null }: { id_compte: number; id_cle?: number | null },
  kept: number,
  now: number,
): Promise<number> {
  const latest = db.q
    .selectFrom('sessions')
    .select('empreinte')
    .where('id_compte', '=', id_compte)
    .where('id_cle', id_cle === null ? 'is' : '=', id_cle)
    .where('revocation', 'is', null)
    .orderBy('creation', 'desc')
    .limit(kept)
  return db.run(
    db.q
      .updateTable('sessions')
      .set({ revocation: now })
      .where('id_compte', '=', id_compte)
      .where('id_cle', id_cle === null ? 'is' : '=', id_cle)
      .where('revocation', 'is', null)
      .where('empreinte', 'not in', latest),
  )
}

/** Forgets the sessions of a key that ended before the key did: a client may sign in by it at each of its requests. */
export async function purgeSessionsOfCle(db: Db, idCle: number): Promise<void> {
  await db.run(db.q.deleteFrom('sessions').where('id_cle', '=', idCle).where('revocation', 'is not', null))
}

/** Forgets sessions that were made before an instant, at most a thousand at a time. */
export async function purgeSessions(db: Db, before: number): Promise<void> {
  await db.run(
    db.q
      .deleteFrom('sessions')
      .where('empreinte', 'in', (sessions) =>
        sessions
          .selectFrom('sessions')
          .select('empreinte')
          .where('creation', '<', before)
          .orderBy('creation')
          .limit(1_000),
      ),
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

/** Ends one live key, of one account or of any, and says whether there was one. */
export async function revokeCle(db: Db, idCle: number, now: number, idCompte?: number): Promise<boolean> {
  let query = db.q
    .updateTable('cles_api')
    .set({ revocation: now })
    .where('id_cle', '=', idCle)
    .where('revocation', 'is', null)
    .where('expiration', '>', now)
  if (idCompte !== undefined) query = query.where('id_compte', '=', idCompte)
  return (await db.run(query)) > 0
}

/** Forgets keys that ended before an instant, one way or the other. */
export async function purgeCles(db: Db, before: number): Promise<void> {
  await db.run(
    db.q
      .deleteFrom('cles_api')
      .where(({ or, eb }) => or([eb('expiration', '<', before), eb('revocation', '<', before)])),
  )
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
