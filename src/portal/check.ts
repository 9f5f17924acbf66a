import { REPORTED_KINDS } from '../model/kinds.js'
import { verifyOrders } from '../store/counted/build.js'
import { EVERYTHING } from '../store/journal.js'
import { ORDERS } from '../store/orders.js'
import type { Db, Store } from '../store/store.js'
import { derive, derivePoints, findWrongRankings, findWrongScores } from './derive.js'

export interface Finding {
  what: string
  faults: string[]
  /** What to do where there are faults. */
  remedy: string
}

export interface CheckReport {
  counts: Record<string, number>
  findings: Finding[]
}

const RESTORE = 'restore a backup, or import a dump into a new store'
const REPAIR = 'run `palmares check --repair`'

/** What is looked at, in this order. */
const LOOKED_AT = [
  'file, indexes and references',
  'scores and ranking keys',
  'rankings by category and period',
  'counts of validations and challenges',
  'places and pages',
  'search',
] as const

/** Called before each step with what it looks at or derives, the steps done and all of them. */
export type OnLook = (what: string, done: number, of: number) => void

function lookWith(onStep: OnLook): (step: number) => void {
  return (step) => onStep(LOOKED_AT[step] as string, step, LOOKED_AT.length)
}

/** Compares everything that a store holds derived with what it is derived from. */
export async function checkPortal(store: Store, onStep: OnLook = () => undefined): Promise<CheckReport> {
  const look = lookWith(onStep)
  look(0)
  const broken = await store.verify()
  const file = { what: LOOKED_AT[0], faults: broken, remedy: RESTORE }
  if (broken.length > 0) return { counts: {}, findings: [file] }
  return store.read(async (db) => {
    const counts: Record<string, number> = {}
    for (const table of COUNTED) counts[table] = await count(db, `select count(*) as nb from ${table}`)
    look(1)
    await derivePoints(db)
    const scores = (await findWrongScores(db, SHOWN)).map((id) => `author ${id}`)
    look(2)
    const rankings = (await findWrongRankings(db, SHOWN)).map((classement) => `ranking ${classement}`)
    look(3)
    const wrongCounts = await checkCounts(db)
    look(4)
    const orders = await checkOrders(db)
    look(5)
    const search = await store.verifySearch()
    const derived = [scores, rankings, wrongCounts, orders, search]
    const findings = [
      file,
      ...derived.map((faults, i) => ({ what: LOOKED_AT[i + 1] as string, faults, remedy: REPAIR })),
    ]
    return { counts, findings }
  })
}

/** Derives everything anew from the records. */
export async function repairPortal(store: Store, onStep: OnLook = () => undefined): Promise<void> {
  const stage = (name: string, first: number) => (done: number, of: number) => onStep(name, first + done / of, 3)
  await store.bulk(
    { withAccounts: false },
    async () => undefined,
    async (db) => {
      await derive(db, stage('deriving scores and counts', 0), stage('building orders', 1))
      return { change: { donnees: EVERYTHING } }
    },
  )
  stage('building the search index', 2)(0, 1)
  await store.rebuildSearch()
}

/** Faults of a kind that are shown. */
const SHOWN = 6

const COUNTED = [...REPORTED_KINDS.map(({ table }) => table), 'cles_api']

async function checkCounts(db: Db): Promise<string[]> {
  const challenges = await db.select<{ id: number }>(
    `select id_challenge as id from challenges t where nb_validations <>
     (select count(*) from validations v where v.id_challenge = t.id_challenge) order by id limit ${SHOWN}`,
  )
  const rubriques = await db.select<{ id: number }>(
    `select id_rubrique as id from rubriques t where nb_challenges <>
     (select count(*) from challenges c where c.id_rubrique = t.id_rubrique) order by id limit ${SHOWN}`,
  )
  return [...challenges.map(({ id }) => `challenge ${id}`), ...rubriques.map(({ id }) => `category ${id}`)]
}

async function checkOrders(db: Db): Promise<string[]> {
  const faults: string[] = []
  for (const order of ORDERS) faults.push(...(await verifyOrders(db, order)))
  return faults
}

async function count(db: Db, sql: string): Promise<number> {
  const [row] = await db.select<{ nb: number }>(sql)
  return Number(row?.nb)
}
