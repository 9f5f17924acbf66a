import { findOperators, lockOperators } from '../auth/operators.js'
import { nowSeconds } from '../instant.js'
import type { Db } from '../store/store.js'
import type { Faults } from './faults.js'
import { lotOf } from './lot.js'
import type { RecordKind } from './record-kind.js'
import { recordKinds } from './records.js'

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

const accountKinds = recordKinds.filter(({ type }) => type === 'compte')
const dataKinds = recordKinds.filter(({ type }) => type !== 'compte')

/**
 * Moves the staged records into their tables, all but the accounts, and says what changed; a reference to nothing goes to
 * `faults`, one of an account too.
 */
export async function mergeData(db: Db, options: MergeOptions, faults: Faults): Promise<Tally[]> {
  const tallies = await mergeKinds(db, dataKinds, options)
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
  const tallies = await mergeKinds(db, accountKinds, options)
  const removed = await db.select<{ login: string }>('select login from parti_comptes order by login')
  if (operators.length > 0 && !options.removeOperators && (await findOperators(db)).length === 0) {
    faults.add(
      undefined,
      `no enabled operator would be left of ${operators.join(', ')}; give --remove-operators to import anyway`,
    )
  }
  return { tallies, removedAccounts: removed.map(({ login }) => login) }
}

async function mergeKinds(db: Db, kinds: readonly RecordKind[], options: MergeOptions): Promise<Tally[]> {
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
    const upserted = await upsert(db, kind)
    tallies.push({ type: kind.type, ...upserted, removed: removed.get(kind.type) as number })
  }
  await db.analyze(...kinds.map((kind) => kind.table))
  return tallies
}

/** Whether any table changed. */
export function hasChanged(tallies: readonly Tally[]): boolean {
  return tallies.some(({ added, changed, removed, listed }) => added + changed + removed + listed > 0)
}

async function remove(db: Db, kind: RecordKind, { replace, withAccounts }: MergeOptions): Promise<number> {
  const { table } = kind
  const gone = `parti_${table}`
  const isSame = (alias: string) => kind.key.map((column) => `${alias}.${column} = t.${column}`).join(' and ')
  const named = `select 1 from ${lotOf(table)} l where ${isSame('l')}`
  const isReplaced = replace && (kind.type !== 'compte' || withAccounts)
  const isUnnamed = `not exists (${named} and l.supprime = 0)`
  const isRemoved = isReplaced ? isUnnamed : `exists (${named} and l.supprime = 1)`
  const isGone = kind.type === 'compte' ? `${isRemoved} or (${GONE_AUTHORS} and ${isUnnamed})` : isRemoved
  await db.exec(`drop table if exists ${gone}`)
  await db.exec(`create temporary table ${gone} as select ${kind.key.join(', ')} from ${table} t where ${isGone}`)
  for (const [child, condition] of hangingOn[table] ?? []) await db.exec(`delete from ${child} where ${condition}`)
  return db.exec(`delete from ${table} as t where exists (select 1 from ${gone} g where ${isSame('g')})`)
}

const GONE_AUTHORS = 'id_auteur in (select id_auteur from parti_auteurs)'
const OF_GONE_ACCOUNTS = `id_compte in (
  select id_compte from comptes where login in (select login from parti_comptes))`

/** What goes with a record. */
const hangingOn: Record<string, [table: string, condition: string][]> = {
  auteurs: [
    ['validations', GONE_AUTHORS],
    ['challenges_auteurs', GONE_AUTHORS],
  ],
  challenges: [
    ['validations', 'id_challenge in (select id_challenge from parti_challenges)'],
    ['challenges_auteurs', 'id_challenge in (select id_challenge from parti_challenges)'],
  ],
  comptes: [
    ['sessions', OF_GONE_ACCOUNTS],
    ['cles_api', OF_GONE_ACCOUNTS],
    ['adresses_connues', OF_GONE_ACCOUNTS],
  ],
}

async function upsert(db: Db, kind: RecordKind): Promise<Pick<Tally, 'added' | 'changed' | 'listed'>> {
  const { table, key } = kind
  const lot = lotOf(table)
  const isSame = key.map((column) => `t.${column} = l.${column}`).join(' and ')
  const [count] = await db.select<{ nb: number }>(
    `select count(*) as nb from ${lot} l where supprime = 0 and not exists (select 1 from ${table} t where ${isSame})`,
  )
  const added = Number(count?.nb)
  if (kind.type === 'compte') await endSessions(db)
  const written = await db.exec(upsertOf(kind))
  const listed =
    kind.type === 'challenge' ? await mergeAuthorships(db) : kind.type === 'compte' ? await mergeKeys(db) : 0
  return { added, changed: written - added, listed }
}

/** Writes the records of a lot into their table, where they differ. */
export function upsertOf({ table, key, columns }: RecordKind): string {
  const all = [...key, ...columns].join(', ')
  const row = (alias: string) => `(${columns.map((column) => `${alias}.${column}`).join(', ')})`
  return `insert into ${table} (${all}) select ${all} from ${lotOf(table)} where supprime = 0 order by ${key.join(', ')}
     on conflict (${key.join(', ')}) do update set ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}
     where ${row(table)} is distinct from ${row('excluded')}`
}

export async function mergeAuthorships(db: Db): Promise<number> {
  const lot = lotOf('challenges_auteurs')
  const removed = await db.exec(
    `delete from challenges_auteurs as t where id_challenge in (select id_challenge from ${lotOf('challenges')} where supprime = 0)
     and not exists (select 1 from ${lot} l where l.id_challenge = t.id_challenge and l.id_auteur = t.id_auteur)`,
  )
  const added = await db.exec(
    `insert into challenges_auteurs (id_challenge, id_auteur) select distinct id_challenge, id_auteur from ${lot} where true
     on conflict do nothing`,
  )
  return removed + added
}

/** A session outlives neither its account's password nor its account. */
async function endSessions(db: Db): Promise<void> {
  await db.exec(
    `update sessions set revocation = ? where revocation is null and id_compte in (
     select c.id_compte from comptes c join ${lotOf('comptes')} l on l.login = c.login where l.supprime = 0 and (l.mot_de_passe <> c.mot_de_passe or l.id_auteur <> c.id_auteur or l.desactive = 1))`,
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
  for (const [done, kind] of recordKinds.entries()) {
    onCheck?.(done, recordKinds.length)
    for (const { column, table } of kind.references) await checkReference(db, faults, kind.table, column, table)
  }
  await checkReference(db, faults, 'challenges_auteurs', 'id_auteur', 'auteurs')
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

async function checkReference(db: Db, faults: Faults, child: string, column: string, parent: string): Promise<void> {
  const isRemoved = child === 'challenges_auteurs' ? '' : 'l.supprime = 0 and'
  const field = child === 'challenges_auteurs' ? 'auteurs' : column
  await faults.addFound<{ ligne: number; id: number }>(
    db,
    `select l.ligne, l.${column} as id from ${lotOf(child)} l
     where ${isRemoved} not exists (select 1 from ${parent} p where p.${column} = l.${column})`,
    ({ id }) => `${field} names ${id}, which ${parent} does not have`,
  )
}
