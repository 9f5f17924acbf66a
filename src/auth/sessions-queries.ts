import type { Db } from '../store/store.js'
import { DELETED_AT_ONCE } from './deletion.js'

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
      .limit(DELETED_AT_ONCE)
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
