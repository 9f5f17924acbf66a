import type { Selectable } from 'kysely'
import { statement } from '../store/query.js'
import type { Db } from '../store/store.js'
import type { Tables } from '../store/tables.js'

export type CleRow = Selectable<Tables['cles_api']>

export const findCle = statement<{ empreinte: string }>()((q, p) =>
  q
    .selectFrom('cles_api')
    .innerJoin('comptes', 'comptes.id_compte', 'cles_api.id_compte')
    .select(['empreinte', 'comptes.id_compte', 'id_auteur', 'operateur', 'desactive'])
    .select(['id_cle', 'cles_api.creation', 'expiration', 'derniere_utilisation', 'revocation', 'portee'])
    .where('empreinte', '=', p.empreinte),
)

/** The valid keys of an account, or of all accounts, ascending. */
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

/** How many valid keys an account has. */
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
