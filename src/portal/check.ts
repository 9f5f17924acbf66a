import { verifyOrder } from '../store/counted.js'
import { EVERYTHING } from '../store/journal.js'
import type { Db, Store } from '../store/store.js'
import { derive, derivePoints, findWrongRankings, findWrongScores } from './derive.js'
import { ORDERS } from './orders.js'

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

/** Compares everything that a store holds derived with what it is derived from. */
export async function checkPortal(store: Store): Promise<CheckReport> {
  const broken = await store.verify()
  const file = { what: 'file, indexes and references', faults: broken, remedy: RESTORE }
  if (broken.length > 0) return { counts: {}, findings: [file] }
  return store.read(async (db) => {
    const counts: Record<string, number> = {}
    for (const table of COUNTED) counts[table] = await count(db, `select count(*) as nb from ${table}`)
    await derivePoints(db)
    const findings = [
      file,
      {
        what: 'scores and ranking keys',
        faults: (await findWrongScores(db, SHOWN)).map((id) => `author ${id}`),
        remedy: REPAIR,
      },
      {
        what: 'rankings by category and period',
        faults: (await findWrongRankings(db, SHOWN)).map((classement) => `ranking ${classement}`),
        remedy: REPAIR,
      },
      { what: 'counts of validations and challenges', faults: await checkCounts(db), remedy: REPAIR },
      { what: 'places and pages', faults: await checkOrders(db), remedy: REPAIR },
      { what: 'search', faults: await store.verifySearch(), remedy: REPAIR },
    ]
    return { counts, findings }
  })
}

/** Derives everything anew from the records. */
export async function repairPortal(store: Store): Promise<void> {
  await store.bulk(
    { withAccounts: false },
    async () => undefined,
    async (db) => {
      await derive(db)
      return { change: { donnees: EVERYTHING } }
    },
  )
  await store.rebuildSearch()
}

/** Faults of a kind that are shown. */
const SHOWN = 6

const COUNTED = [
  'rubriques',
  'challenges',
  'auteurs',
  'validations',
  'environnements_virtuels',
  'comptes',
  'cles_api',
] as const

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
  for (const { pattern, entries } of ORDERS) faults.push(...(await verifyOrder(db, pattern, entries)))
  return faults
}

async function count(db: Db, sql: string): Promise<number> {
  const [row] = await db.select<{ nb: number }>(sql)
  return Number(row?.nb)
}
