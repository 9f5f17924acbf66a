import { randomInt } from 'node:crypto'
import { DATA_KINDS } from '../model/kinds.js'
import type { Db, Store } from '../store/store.js'
import type { Tables } from '../store/tables.js'
import { MirrorError } from './errors.js'
import type { Dialect } from './source.js'

/** Addresses per statement. */
const CHUNK = 500
/** A pass that was interrupted for longer starts from the beginning, because what it saw is too old. */
const MAX_REST_SECONDS = 24 * 3_600

type MirrorState = Tables['miroir'] & { dialecte: Dialect | null }

/** What one address of the portal last answered. */
export type Resource = Tables['miroir_ressources']

/**
 * Makes a store the copy of an address, unless it already is. Throws `MirrorError` for a store that has its own portal, or is
 * the copy of another.
 */
export async function claim(store: Store, adresse: string): Promise<void> {
  // In one transaction, so that neither another mirror nor an import comes between the check and the claim.
  const claimed = async (db: Db) => {
    const state = await findState(db)
    if (state?.adresse === adresse) return
    if (state) {
      throw new MirrorError(`this store is the copy of ${state.adresse}; give another with --database for ${adresse}`)
    }
    if (!(await isEmpty(db))) {
      throw new MirrorError(
        'this store holds a portal of its own, which a copy would overwrite; give another with --database',
      )
    }
    await db.exec(
      `insert into miroir (id, adresse, dialecte, reglage, passe, en_cours, activite) values (1, ?, null, '', 0, 0, 0)`,
      adresse,
    )
  }
  await store.write({}, claimed, 'donnees')
}

async function findState(db: Db): Promise<MirrorState | undefined> {
  return (await db.select<MirrorState>('select * from miroir where id = 1'))[0]
}

async function isEmpty(db: Db): Promise<boolean> {
  for (const { table } of DATA_KINDS) {
    if ((await db.select(`select 1 from ${table} limit 1`)).length > 0) return false
  }
  return true
}

/**
 * Starts a pass, or resumes an interrupted one with the same options. If another mirror is still running on this store, its
 * next batch fails: a killed mirror cannot be distinguished from a running one.
 */
export async function beginPass(
  store: Store,
  reglage: string,
  now: number,
): Promise<{ passe: number; dialecte: Dialect | null; isResumed: boolean; maker: number }> {
  const maker = randomInt(1, MAX_MAKER)
  return store.write({}, async (db) => {
    const { passe, dialecte, ...state } = (await findState(db)) as MirrorState
    const rest = now - state.activite
    const isResumed = state.en_cours !== 0 && state.reglage === reglage && rest >= 0 && rest <= MAX_REST_SECONDS
    if (isResumed) {
      await db.exec('update miroir set en_cours = ?', maker)
      return { passe, dialecte, isResumed, maker }
    }
    await db.exec('update miroir set passe = passe + 1, en_cours = ?, reglage = ?, activite = ?', maker, reglage, now)
    return { passe: passe + 1, dialecte, isResumed, maker }
  })
}

const MAX_MAKER = 2 ** 47

/** Throws `MirrorError` if another mirror has taken over the pass. */
export async function throwIfTaken(db: Db, maker: number): Promise<void> {
  if ((await findState(db))?.en_cours === maker) return
  throw new MirrorError('another mirror took over this store; this one stops')
}

/** Releases the claim of an address where no record of a portal was found. */
export async function release(store: Store, maker: number): Promise<void> {
  const forget = async (db: Db) => {
    const released = await db.exec('delete from miroir where dialecte is null and en_cours = ?', maker)
    if (released > 0) await db.exec('delete from miroir_ressources')
  }
  await store.write({}, forget, 'donnees')
}

/** Records the portal's dialect. From now on the store is a copy of it, because a record was found. */
export async function rememberDialect(store: Store, dialecte: Dialect): Promise<void> {
  await store.write({}, (db) => db.exec('update miroir set dialecte = ?', dialecte))
}

/** Ends the pass, and forgets the addresses that were not requested in it. */
export async function endPass(store: Store, { passe, maker }: { passe: number; maker: number }): Promise<void> {
  await store.write({}, async (db) => {
    await throwIfTaken(db, maker)
    await db.exec('delete from miroir_ressources where passe < ?', passe)
    await db.exec('update miroir set en_cours = 0')
  })
}

export async function lookUp(store: Store, chemins: readonly string[]): Promise<Map<string, Resource>> {
  const found = new Map<string, Resource>()
  for (let from = 0; from < chemins.length; from += CHUNK) {
    const chunk = chemins.slice(from, from + CHUNK)
    const marks = chunk.map(() => '?').join(', ')
    const rows = await store.read((db) =>
      db.select<Resource>(`select * from miroir_ressources where chemin in (${marks})`, ...chunk),
    )
    for (const row of rows) found.set(row.chemin, row)
  }
  return found
}

/** Records answers, after their lines are in the store. After a kill between the two they are only requested again. */
export async function remember(
  store: Store,
  { answers, gone, now, maker }: { answers: readonly Resource[]; gone: readonly string[]; now: number; maker: number },
): Promise<void> {
  await store.write({}, async (db) => {
    await throwIfTaken(db, maker)
    for (let from = 0; from < answers.length; from += CHUNK) await upsert(db, answers.slice(from, from + CHUNK))
    for (const chemin of gone) await db.exec('delete from miroir_ressources where chemin = ?', chemin)
    await db.exec('update miroir set activite = ?', now)
  })
}

async function upsert(db: Db, rows: readonly Resource[]): Promise<void> {
  const values = rows.flatMap(({ chemin, etag, passe, lecture, contenu }) => [chemin, etag, passe, lecture, contenu])
  await db.exec(
    `insert into miroir_ressources (chemin, etag, passe, lecture, contenu)
     values ${rows.map(() => '(?, ?, ?, ?, ?)').join(', ')}
     on conflict (chemin) do update set etag = excluded.etag, passe = excluded.passe, lecture = excluded.lecture,
       contenu = excluded.contenu`,
    ...values,
  )
}
