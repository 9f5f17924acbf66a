import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Compilable, type RawBuilder, sql } from 'kysely'
import { Problem } from '../errors.js'
import { countAll, seek } from './counted.js'
import { type Db, StoreError } from './store.js'

/** A list of a table's ids, ascending, under filters that all must hold. Absent filters are undefined or empty. */
export interface ListRequest {
  table: 'auteurs' | 'challenges' | 'environnements_virtuels'
  id: string
  /** Folded texts that folded columns must contain. */
  contains: Record<string, string | undefined>
  /** Values that columns must equal. */
  equals: Record<string, string | number | undefined>
  /** One more condition, over the alias `t`. */
  condition?: RawBuilder<boolean> | undefined
  debut: number
  limite: number
}

export interface IdPage {
  ids: number[]
  total: number | undefined
  end?: number
  more: boolean
}

/** A text filter is counted up to here; beyond, the total is not told. */
const MAX_COUNTED_MATCHES = 1_000

/** Needles too short for the index are looked for row by row, so many rows a turn of the event loop, so long at most. */
const SCAN_WINDOW_ROWS = 10_000
const SCAN_BUDGET_MILLISECONDS = 2_000

/** The ids of one page. Throws `search_too_broad` where a search takes longer than it is given. */
export async function listIds(db: Db, request: ListRequest): Promise<IdPage> {
  const needles = Object.entries(request.contains).filter((entry): entry is [string, string] => Boolean(entry[1]))
  try {
    return await pageOfList(db, request, needles)
  } catch (error) {
    if (!(error instanceof StoreError) || error.fault !== 'slow') throw error
    throw new Problem('search_too_broad', { cause: error })
  }
}

async function pageOfList(db: Db, request: ListRequest, needles: [string, string][]): Promise<IdPage> {
  const isLong = ([, needle]: [string, string]) => [...needle].length >= db.search.minIndexedCodePoints
  const indexed = Object.fromEntries(needles.filter(isLong))
  const filters = [
    ...Object.entries(request.equals).flatMap(([column, value]) =>
      value === undefined ? [] : [sql`t.${sql.ref(column)} = ${value}`],
    ),
    ...needles
      .filter((needle) => !isLong(needle))
      .map(([column, needle]) => db.search.contains(sql.ref(`t.${column}`), needle)),
    ...(request.condition ? [request.condition] : []),
  ]
  if (needles.length === 0) return filters.length === 0 ? pageOfAll(db, request) : pageOfFiltered(db, request, filters)
  if (Object.keys(indexed).length > 0) return pageOfMatches(db, request, matching(db, request, indexed, filters))
  if (request.condition) return pageOfFiltered(db, request, filters)
  return pageOfScan(db, request, filters)
}

/**
 * The values of an `in (…)`, repeated up to a power of two: lists of all lengths make a handful of statements, which stay
 * prepared.
 */
export function padded(values: readonly number[]): number[] {
  const length = 2 ** Math.ceil(Math.log2(values.length))
  return Array.from({ length }, (_, i) => values[Math.min(i, values.length - 1)] as number)
}

/** The whole table: the counted order finds the row, at the same cost at any depth. */
async function pageOfAll(db: Db, { table, id, debut, limite }: ListRequest): Promise<IdPage> {
  const total = await countAll(db, table)
  const start = await seek(db, table, debut)
  const ids = start
    ? await db.all(
        rawQuery<{ id: number }>(
          db,
          sql`select ${sql.ref(id)} as id from ${sql.table(table)} where ${sql.ref(id)} >= ${start.id}
          order by ${sql.ref(id)} limit ${limite} offset ${start.reste}`,
        ),
      )
    : []
  return { ids: ids.map((row) => row.id), total, more: debut + limite < total }
}

async function pageOfFiltered(db: Db, request: ListRequest, filters: RawBuilder<unknown>[]): Promise<IdPage> {
  const { table, id, debut, limite } = request
  const source = sql`select t.${sql.ref(id)} as id from ${sql.table(table)} as t where ${sql.join(filters, sql` and `)}`
  const total = await count(db, source)
  return { ids: await pageOf(db, source, debut, limite), total, more: debut + limite < total }
}

async function pageOfMatches(db: Db, { debut, limite }: ListRequest, source: RawBuilder<unknown>): Promise<IdPage> {
  const ids = await pageOf(db, source, debut, limite + 1)
  const more = ids.length > limite
  const found = ids.slice(0, limite)
  if (!more && (found.length > 0 || debut === 0)) return { ids: found, more, ...told(debut + found.length) }
  const counted = await count(db, sql`${source} limit ${MAX_COUNTED_MATCHES + 1}`)
  if (counted <= MAX_COUNTED_MATCHES) return { ids: found, more, total: counted }
  return { ids: found, more, ...(more ? { total: undefined } : told(await count(db, source))) }
}

/** Scans under way in this process: each holds a snapshot while it yields, and others need theirs. */
const MAX_SCANS = 2
let scans = 0

/** A table of one window is no scan that others would have to wait for. */
async function pageOfScan(db: Db, request: ListRequest, filters: RawBuilder<unknown>[]): Promise<IdPage> {
  let isLong = false
  const goOn = () => {
    if (isLong) return
    if (scans >= MAX_SCANS) throw new Problem('search_too_broad')
    isLong = true
    scans++
  }
  try {
    return await scan(db, request, filters, goOn)
  } finally {
    if (isLong) scans--
  }
}

/** Walks the table in windows, giving the event loop its turn between two, until the page is full and the total known. */
async function scan(db: Db, request: ListRequest, filters: RawBuilder<unknown>[], goOn: () => void): Promise<IdPage> {
  const { table, id, debut, limite } = request
  const deadline = Date.now() + SCAN_BUDGET_MILLISECONDS
  const wanted = Math.max(debut + limite, MAX_COUNTED_MATCHES) + 1
  const key = sql.ref(`t.${id}`)
  const found: number[] = []
  let after = 0
  for (;;) {
    const last = await db.get(
      rawQuery<{ id: number }>(
        db,
        sql`select ${key} as id from ${sql.table(table)} as t where ${key} > ${after}
        order by ${key} limit 1 offset ${SCAN_WINDOW_ROWS - 1}`,
      ),
    )
    const bound = last ? sql`and ${key} <= ${last.id}` : sql``
    const rows = await db.all(
      rawQuery<{ id: number }>(
        db,
        sql`select ${key} as id from ${sql.table(table)} as t where ${key} > ${after} ${bound}
        and ${sql.join(filters, sql` and `)} order by ${key}`,
      ),
    )
    for (const row of rows) found.push(row.id)
    if (!last || found.length >= wanted) break
    if (Date.now() > deadline) throw new Problem('search_too_broad')
    goOn()
    after = last.id
    await nextTurn()
  }
  const isWhole = found.length < wanted
  const ids = found.slice(debut, debut + limite)
  return { ids, more: found.length > debut + limite, ...(isWhole ? told(found.length) : { total: undefined }) }
}

/** A total of text matches is told up to a bound; above it only the links use it. */
function told(total: number): { total: number | undefined; end?: number } {
  return total <= MAX_COUNTED_MATCHES ? { total } : { total: undefined, end: total }
}

function matching(
  db: Db,
  { table, id }: ListRequest,
  indexed: Record<string, string>,
  filters: RawBuilder<unknown>[],
): RawBuilder<unknown> {
  const matches = db.search.matches(table, id, indexed)
  if (filters.length === 0) return sql`select m.id from ${matches} as m`
  return sql`select m.id from ${matches} as m join ${sql.table(table)} as t on t.${sql.ref(id)} = m.id
    where ${sql.join(filters, sql` and `)}`
}

async function pageOf(db: Db, source: RawBuilder<unknown>, debut: number, limite: number): Promise<number[]> {
  const rows = await db.all(rawQuery<{ id: number }>(db, sql`${source} order by id limit ${limite} offset ${debut}`))
  return rows.map((row) => row.id)
}

async function count(db: Db, source: RawBuilder<unknown>): Promise<number> {
  const row = await db.get(rawQuery<{ nb: number }>(db, sql`select count(*) as nb from (${source}) as source`))
  return Number(row?.nb)
}

function rawQuery<R>(db: Db, query: RawBuilder<unknown>): Compilable<R> {
  return { compile: () => query.compile(db.q) as never }
}
