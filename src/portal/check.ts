import { REPORTED_KINDS } from '../model/kinds.js'
import { verifyOrders } from '../store/counted/build.js'
import { EVERYTHING } from '../store/journal.js'
import { ORDERS } from '../store/orders.js'
import { findWrongSettings, removeWrongSettings } from '../store/settings.js'
import type { Db, Store } from '../store/store.js'
import { COUNTS, derive, derivePoints, findWrongRankings, findWrongScores } from './derive.js'
import { findWrongFrozen, repairFrozen } from './frozen.js'
import { findWrongGroups } from './groups.js'

export interface Finding {
  what: string
  faults: string[]
  /** What to do where there are faults. */
  remedy: string
}

export interface CheckReport {
  /** By the label of a kind. */
  counts: Record<string, number>
  findings: Finding[]
}

const RESTORE = 'restore a backup, or import a dump into a new store'
const REPAIR = 'run `palmares check --repair`'

const FILE = 'file, indexes and references'
/** Faults of a kind that are shown. */
const SHOWN = 6

/** What is looked at after the file, in this order. */
const LOOKS: readonly [what: string, find: (db: Db, store: Store) => Promise<string[]>][] = [
  ['scores and ranking keys', findScores],
  ['rankings by category and period', async (db) => named('ranking', await findWrongRankings(db, SHOWN))],
  ['counts of validations and challenges', findCounts],
  ['places and pages', findOrders],
  ['search', (_, store) => store.verifySearch()],
  ['groups', (db) => findWrongGroups(db, SHOWN)],
  ['settings', findWrongSettings],
  ['frozen validations', (db) => findWrongFrozen(db, SHOWN)],
]

/** Called before each step with what it looks at or derives, the steps done and all of them. */
export type OnLook = (what: string, done: number, of: number) => void

/** Compares everything that a store holds derived with what it is derived from. */
export async function checkPortal(store: Store, onStep: OnLook = () => undefined): Promise<CheckReport> {
  const steps = LOOKS.length + 1
  onStep(FILE, 0, steps)
  const file = { what: FILE, faults: await store.verify(), remedy: RESTORE }
  if (file.faults.length > 0) return { counts: {}, findings: [file] }
  return store.read(async (db) => {
    const counts: Record<string, number> = {}
    for (const { label, table } of COUNTED) counts[label] = await count(db, `select count(*) as nb from ${table}`)
    const findings: Finding[] = [file]
    for (const [i, [what, find]] of LOOKS.entries()) {
      onStep(what, i + 1, steps)
      findings.push({ what, faults: await find(db, store), remedy: REPAIR })
    }
    return { counts, findings }
  })
}

/** Recomputes everything that follows from the records. */
export async function repairPortal(store: Store, onStep: OnLook = () => undefined): Promise<void> {
  const stage = (name: string, first: number) => (done: number, of: number) => onStep(name, first + done / of, 3)
  await store.bulk(
    { withAccounts: false },
    async () => undefined,
    async (db) => {
      await removeWrongSettings(db)
      await repairFrozen(db)
      await derive(db, stage('deriving scores and counts', 0), stage('building orders', 1))
      return { change: { donnees: EVERYTHING } }
    },
  )
  stage('building the search index', 2)(0, 1)
  await store.rebuildSearch()
}

const COUNTED = [...REPORTED_KINDS, { label: 'API key', table: 'cles_api' }]

async function findScores(db: Db): Promise<string[]> {
  await derivePoints(db)
  return named('author', await findWrongScores(db, SHOWN))
}

async function findCounts(db: Db): Promise<string[]> {
  const faults: string[] = []
  for (const { what, table, id, column, counted } of COUNTS) {
    const wrong = await db.select<{ id: number }>(
      `select ${id} as id from ${table} t where ${column} <>
       (select count(*) from ${counted} c where c.${id} = t.${id}) order by id limit ${SHOWN}`,
    )
    faults.push(...wrong.map((row) => `${what} ${row.id}`))
  }
  return faults
}

async function findOrders(db: Db): Promise<string[]> {
  const faults: string[] = []
  for (const order of ORDERS) faults.push(...(await verifyOrders(db, order)))
  return faults
}

function named(what: string, ids: readonly number[]): string[] {
  return ids.map((id) => `${what} ${id}`)
}

async function count(db: Db, sql: string): Promise<number> {
  const [row] = await db.select<{ nb: number }>(sql)
  return Number(row?.nb)
}
