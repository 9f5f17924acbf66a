import { findOperators, lockOperators } from '../auth/operators.js'
import { nowSeconds } from '../instant.js'
import type { Kind } from '../model/kind.js'
import { comptes, DATA_KINDS, KINDS, validations } from '../model/kinds.js'
import { REFERENCES } from '../store/references.js'
import { readGel } from '../store/settings.js'
import type { Db } from '../store/store.js'
import type { Faults } from './faults.js'
import { isLate, refuseMarked } from './frozen.js'
import { lotOf, referencesIn, type StagedReference, sameKey, tuple } from './lot.js'

/** What an import did to the records of one kind. */
export interface Tally {
  type: string
  added: number
  changed: number
  removed: number
  /** Entries of the records' lists (who wrote a challenge, the keys of an account) that were added or removed. */
  listed: number
}

export interface MergeOptions {
  /** Removes what the dump does not name. */
  replace: boolean
  withAccounts: boolean
  /** Called before each step of the merge, and of the check of references after it, with the steps done and all of them. */
  onStep?: (done: number, of: number) => void
  onCheck?: (done: number, of: number) => void
  /** Goes on even if no enabled operator is left where there was one. */
  removeOperators?: boolean
}

/**
 * Moves the staged records into their tables, all but the accounts and what is to be frozen, and says what changed; a reference
 * to nothing goes to `faults`, one of an account too.
 */
export async function mergeData(db: Db, options: MergeOptions, faults: Faults): Promise<Tally[]> {
  const gel = await readGel(db)
  if (gel === undefined) await refuseMarked(db, faults)
  const tallies = await mergeKinds(db, DATA_KINDS, options, gel)
  await checkReferences(db, faults, options)
  return tallies
}

/**
 * Moves the staged accounts into their tables, after `mergeData`. The accounts of removed authors are removed too, unless a
 * line moves them to another author. Says which logins are gone; losing the last operator goes to `faults`.
 */
export async function mergeAccounts(
  db: Db,
  options: MergeOptions,
  faults: Faults,
): Promise<{ tallies: Tally[]; removedAccounts: string[] }> {
  const operators = await lockOperators(db)
  const tallies = await mergeKinds(db, [comptes], options)
  const removed = await db.select<{ login: string }>('select login from gone_comptes order by login')
  if (operators.length > 0 && !options.removeOperators && (await findOperators(db)).length === 0) {
    faults.add(
      undefined,
      `no enabled operator would be left of ${operators.join(', ')}; give --remove-operators to import anyway`,
    )
  }
  return { tallies, removedAccounts: removed.map(({ login }) => login) }
}

async function mergeKinds(db: Db, kinds: readonly Kind[], options: MergeOptions, gel?: number): Promise<Tally[]> {
  const tallies: Tally[] = []
  const removed = new Map<string, number>()
  const steps = kinds.length * 2
  let done = 0
  for (const kind of [...kinds].reverse()) {
    options.onStep?.(done++, steps)
    removed.set(kind.type, await remove(db, kind, options))
  }
  for (const kind of kinds) {
    options.onStep?.(done++, steps)
    const upserted = await upsert(
      db,
      kind,
      gel !== undefined && kind.type === validations.type ? isShownUntil(gel) : TAKEN,
    )
    tallies.push({ type: kind.type, ...upserted, removed: removed.get(kind.type) as number })
  }
  await db.analyze(...kinds.map((kind) => kind.table))
  return tallies
}

/** Whether any table changed. */
export function hasChanged(tallies: readonly Tally[]): boolean {
  return tallies.some(({ added, changed, removed, listed }) => added + changed + removed + listed > 0)
}

async function remove(db: Db, kind: Kind, { replace, withAccounts }: MergeOptions): Promise<number> {
  const { table } = kind
  const gone = `gone_${table}`
  const named = `select 1 from ${lotOf(table)} l where ${sameKey(kind, 'l', 't')}`
  const isReplaced = replace && (!kind.isAccount || withAccounts)
  const isUnnamed = `not exists (${named} and l.supprime = 0)`
  const isRemoved = isReplaced ? isUnnamed : `exists (${named} and l.supprime = 1)`
  const isGone = kind.isAccount ? `${isRemoved} or (${GONE_AUTHORS} and ${isUnnamed})` : isRemoved
  await db.exec(`drop table if exists ${gone}`)
  await db.exec(`create temporary table ${gone} as select ${kind.key.join(', ')} from ${table} t where ${isGone}`)
  for (const [child, condition] of hangingOn(kind)) await db.exec(`delete from ${child} where ${condition}`)
  return db.exec(`delete from ${table} as t where exists (select 1 from ${gone} g where ${sameKey(kind, 'g', 't')})`)
}

const GONE_AUTHORS = 'id_auteur in (select id_auteur from gone_auteurs)'
const OF_GONE_ACCOUNTS = `id_compte in (
  select id_compte from comptes where login in (select login from gone_comptes))`

/** What is removed with a record: the rows that it is a part of the key of. Accounts have tables of their own. */
function hangingOn(kind: Kind): [table: string, condition: string][] {
  if (kind.isAccount) return ['sessions', 'cles_api', 'adresses_connues'].map((table) => [table, OF_GONE_ACCOUNTS])
  const isInKey = (child: string, column: string) =>
    (KINDS as readonly Kind[]).find(({ table }) => table === child)?.key.includes(column)
  return REFERENCES.filter(
    ({ child, column, parent }) => parent === kind.table && isInKey(child, column) !== false,
  ).map(({ child, column }) => [child, `${column} in (select ${column} from gone_${kind.table})`])
}

/** Which lines of a lot, `l`, are written into the table. */
const TAKEN = 'l.supprime = 0'
const isShownUntil = (gel: number) => `${TAKEN} and not ${isLate(gel)}`

async function upsert(db: Db, kind: Kind, taken: string): Promise<Pick<Tally, 'added' | 'changed' | 'listed'>> {
  const { table } = kind
  const lot = lotOf(table)
  const [count] = await db.select<{ nb: number }>(
    `select count(*) as nb from ${lot} l where ${taken} and not exists (select 1 from ${table} t where ${sameKey(kind, 't', 'l')})`,
  )
  const added = Number(count?.nb)
  if (kind.isAccount) await endSessions(db)
  const written = await db.exec(upsertOf(kind, taken))
  const listed = kind.isAccount ? await mergeKeys(db) : await mergeList(db, kind)
  return { added, changed: written - added, listed }
}

/** Writes the records of a lot into their table, where they differ. */
export function upsertOf({ table, key, columns }: Kind, taken = TAKEN): string {
  const all = [...key, ...columns].join(', ')
  return `insert into ${table} (${all}) select ${all} from ${lotOf(table)} l where ${taken} order by ${key.join(', ')}
     on conflict (${key.join(', ')}) do update set ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}
     where ${tuple(columns, table)} is distinct from ${tuple(columns, 'excluded')}`
}

/** The rows of a list become those of its lines. Says how many were added or removed. */
export async function mergeList(db: Db, { table, key, list }: Kind): Promise<number> {
  if (!list) return 0
  const lot = lotOf(list.table)
  const own = key.join(', ')
  const columns = [...key, ...list.columns]
  const removed = await db.exec(
    `delete from ${list.table} as t where (${own}) in (select ${own} from ${lotOf(table)} where supprime = 0)
     and not exists (select 1 from ${lot} l where ${sameKey({ key: columns }, 'l', 't')})`,
  )
  const added = await db.exec(
    `insert into ${list.table} (${columns.join(', ')}) select distinct ${columns.join(', ')} from ${lot} where true
     on conflict do nothing`,
  )
  return removed + added
}

/** A session outlives neither its account's password nor its account. */
async function endSessions(db: Db): Promise<void> {
  await db.exec(
    `update sessions set revocation = ? where revocation is null and id_compte in (
     select c.id_compte from comptes c join ${lotOf('comptes')} l on l.login = c.login
     where l.supprime = 0 and (l.mot_de_passe <> c.mot_de_passe or l.id_auteur <> c.id_auteur or l.desactive = 1))`,
    nowSeconds(),
  )
}

/** The keys of an account become those of its line; each keeps its id where no other key has it. */
async function mergeKeys(db: Db): Promise<number> {
  const lot = lotOf('cles_api')
  const columns = 'nom, prefixe, empreinte, portee, creation, expiration, derniere_utilisation'
  const from = `from ${lot} l join comptes c on c.login = l.login`
  const values = columns.replace(/\w+/g, 'l.$&')
  const update = `on conflict (empreinte) do update set id_compte = excluded.id_compte, nom = excluded.nom,
    portee = excluded.portee, expiration = excluded.expiration, revocation = null
    where (cles_api.id_compte, cles_api.nom, cles_api.portee, cles_api.expiration, cles_api.revocation)
      is distinct from (excluded.id_compte, excluded.nom, excluded.portee, excluded.expiration, null)`
  const isGone = `id_compte in (select c.id_compte from comptes c join ${lotOf('comptes')} l on l.login = c.login)
     and not exists (select 1 from ${lot} l where l.empreinte = cles_api.empreinte)`
  // Said outright, as an import into SQLite may run without the references of the schema.
  await db.exec(`delete from sessions where id_cle in (select id_cle from cles_api where ${isGone})`)
  const removed = await db.exec(`delete from cles_api where ${isGone}`)
  const kept = await db.exec(
    `insert into cles_api (id_cle, id_compte, ${columns}) select l.id_cle, c.id_compte, ${values}
     from (select *, row_number() over (partition by id_cle order by ligne) as rang from ${lot}) as l
     join comptes c on c.login = l.login where l.id_cle is not null and l.rang = 1
     and not exists (select 1 from cles_api k where k.id_cle = l.id_cle)
     and not exists (select 1 from cles_api k where k.empreinte = l.empreinte)`,
  )
  await db.passIds('cles_api', 'id_cle')
  const written = await db.exec(
    `insert into cles_api (id_compte, ${columns}) select c.id_compte, ${values} ${from} where true order by l.ligne ${update}`,
  )
  // A key that went to another account leaves the sessions behind that it made for the first.
  await db.exec(
    `delete from sessions where exists (select 1 from cles_api k where k.id_cle = sessions.id_cle and k.id_compte <> sessions.id_compte)`,
  )
  return removed + kept + written
}

async function checkReferences(db: Db, faults: Faults, { onCheck }: MergeOptions): Promise<void> {
  for (const [done, kind] of KINDS.entries()) {
    onCheck?.(done, KINDS.length)
    for (const reference of referencesIn(kind)) if (!reference.isOfList) await checkReference(db, faults, reference)
  }
  for (const reference of KINDS.flatMap(referencesIn))
    if (reference.isOfList) await checkReference(db, faults, reference)
  await faults.addFound<{ ligne: number | null; id_rubrique: number; id_challenge: number }>(
    db,
    `select l.ligne, c.id_rubrique, min(c.id_challenge) as id_challenge from challenges c
     left join ${lotOf('rubriques')} l on l.id_rubrique = c.id_rubrique
     where not exists (select 1 from rubriques r where r.id_rubrique = c.id_rubrique)
     and not exists (select 1 from ${lotOf('challenges')} n where n.id_challenge = c.id_challenge and n.supprime = 0)
     group by l.ligne, c.id_rubrique`,
    ({ id_rubrique, id_challenge }) => `rubrique ${id_rubrique} is still used by challenge ${id_challenge}`,
  )
}

async function checkReference(
  db: Db,
  faults: Faults,
  { lot, column, parent, field, isOfList }: StagedReference,
): Promise<void> {
  await faults.addFound<{ ligne: number; id: number }>(
    db,
    `select l.ligne, l.${column} as id from ${lot} l
     where ${isOfList ? '' : 'l.supprime = 0 and'} not exists (select 1 from ${parent} p where p.${column} = l.${column})`,
    ({ id }) => `${field} names ${id}, which ${parent} does not have`,
  )
}
