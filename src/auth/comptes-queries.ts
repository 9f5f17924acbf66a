import type { Selectable } from 'kysely'
import { statement } from '../store/query.js'
import type { Db } from '../store/store.js'
import type { Tables } from '../store/tables.js'

export type CompteRow = Selectable<Tables['comptes']>

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
