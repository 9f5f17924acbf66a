import { type Compilable, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { Row } from '../model/kind.js'
import type { ListedKind } from '../model/kinds.js'
import { lists } from './orders.js'
import type { Db } from './store.js'
import type { Tables } from './tables.js'

/** A list of a kind's ids, ascending, under filters that all must hold. Absent filters are undefined or empty. */
export interface ListRequest<K extends ListedKind = ListedKind> {
  /** Folded texts that folded columns must contain. */
  contains: { [C in keyof Row<K>]?: string | undefined }
  /** Values that columns must equal. */
  equals: { [C in keyof Row<K>]?: string | number | undefined }
  /** One more condition, over the alias `t`. */
  condition?: RawBuilder<boolean> | undefined
  debut: number
  limite: number
}

interface Request extends Pick<ListRequest, 'condition' | 'debut' | 'limite'> {
  table: ListedKind['table']
  id: string
  contains: Record<string, string | undefined>
  equals: Record<string, string | number | undefined>
}

export interface IdPage {
  ids: number[]
  total: number | undefined
  end?: number
  more: boolean
}

/** Matches of a text filter are counted up to here; beyond, the total is unknown. */
const MAX_COUNTED_MATCHES = 1_000

/** One page of a list: the rows of `items` that have its ids. With a filter it may take long: it is for reads that say so. */
export async function findPage<K extends ListedKind, T extends keyof Tables, R>(
  db: Db,
  kind: K,
  list: ListRequest<K>,
  items: SelectQueryBuilder<Tables, T, R>,
): Promise<Omit<IdPage, 'ids'> & { rows: R[]; debut: number; limite: number }> {
  const { ids, ...counts } = await listIds(db, kind, list)
  const id = sql.ref(kind.key[0] as string)
  const rows = ids.length === 0 ? [] : await db.all(items.where(id, 'in', padded(ids)).orderBy(id))
  return { rows, debut: list.debut, limite: list.limite, ...counts }
}

/** The ids of one page. With a filter it may take long: it is for reads that say so. */
export async function listIds<K extends ListedKind>(db: Db, { table, key }: K, list: ListRequest<K>): Promise<IdPage> {
  const request: Request = { ...list, table, id: key[0] as string }
  const needles = Object.entries(request.contains).filter((entry): entry is [string, string] => Boolean(entry[1]))
  const filters = [
    ...Object.entries(request.equals).flatMap(([column, value]) =>
      value === undefined ? [] : [sql`t.${sql.ref(column)} = ${value}`],
    ),
    ...(request.condition ? [request.condition] : []),
  ]
  if (needles.length === 0) return filters.length === 0 ? pageOfAll(db, request) : pageOfFiltered(db, request, filters)
  return pageOfMatches(db, request, await matching(db, request, needles, filters))
}

/**
 * The values of an `in (…)`, repeated up to a power of two: lists of all lengths make a handful of statements, which stay
 * prepared.
 */
export function padded(values: readonly number[]): number[] {
  const length = 2 ** Math.ceil(Math.log2(values.length))
  return Array.from({ length }, (_, i) => values[Math.min(i, values.length - 1)] as number)
}

/** The whole table. Its counted order finds the row, at the same cost at any depth. */
async function pageOfAll(db: Db, { table, debut, limite }: Request): Promise<IdPage> {
  const total = await lists[table].count(db)
  const rows = await lists[table].page(db, debut, limite)
  return { ids: rows.map(({ id }) => id), total, more: debut + limite < total }
}

/** Filters without a text are counted whole, by their indexes. */
async function pageOfFiltered(db: Db, request: Request, filters: RawBuilder<unknown>[]): Promise<IdPage> {
  const { debut, limite } = request
  const source = walking(request, filters)
  const total = await count(db, source)
  return { ids: debut < total ? await pageOf(db, source, debut, limite) : [], total, more: debut + limite < total }
}

/** Reads matches in the order of their ids up to the end of the page, and counts at most `MAX_COUNTED_MATCHES`. */
async function pageOfMatches(db: Db, { debut, limite }: Request, source: RawBuilder<unknown>): Promise<IdPage> {
  const ids = await pageOf(db, source, debut, limite + 1)
  const more = ids.length > limite
  const found = ids.slice(0, limite)
  if (!more && (found.length > 0 || debut === 0)) return { ids: found, more, ...shownTotal(debut + found.length) }
  if (more && debut + limite >= MAX_COUNTED_MATCHES) return { ids: found, more, total: undefined }
  if (!more) return { ids: found, more, ...shownTotal(await count(db, source)) }
  const total = await count(db, sql`${source} limit ${MAX_COUNTED_MATCHES + 1}`)
  return { ids: found, more, total: total <= MAX_COUNTED_MATCHES ? total : undefined }
}

/** The total of text matches is shown up to a bound; above it only the links use it. */
function shownTotal(total: number): { total: number | undefined; end?: number } {
  return total <= MAX_COUNTED_MATCHES ? { total } : { total: undefined, end: total }
}

/** By the index where it leads to few rows; otherwise along the table, which costs the same whatever the needle. */
async function matching(
  db: Db,
  request: Request,
  needles: [string, string][],
  filters: RawBuilder<unknown>[],
): Promise<RawBuilder<unknown>> {
  const { table, id } = request
  const indexed = needles.filter(([, needle]) => [...needle].length >= db.search.minIndexedCodePoints)
  const isAlone = filters.length === 0 && indexed.length === needles.length
  const isByIndex = indexed.length > 0 && !request.condition && (await leadsToFew(db, table, indexed, isAlone))
  const byRow = needles
    .filter((needle) => !isByIndex || !indexed.includes(needle))
    .map(([column, needle]) => db.search.contains(sql.ref(`t.${column}`), needle))
  const conditions = [...filters, ...byRow]
  if (!isByIndex) return walking(request, conditions)
  const matches = db.search.matches(table, id, Object.fromEntries(indexed))
  if (conditions.length === 0) return sql`select m.id from ${matches} as m`
  return sql`select m.id from ${matches} as m join ${sql.table(table)} as t on t.${sql.ref(id)} = m.id
    where ${sql.join(conditions, sql` and `)}`
}

async function leadsToFew(db: Db, table: string, needles: [string, string][], isAlone: boolean): Promise<boolean> {
  const isRare = db.search.isRare?.(table, Object.fromEntries(needles), isAlone)
  if (!isRare) return true
  const row = await db.get(rawQuery<{ rare: number }>(db, sql`select ${isRare} as rare`))
  return row?.rare === 1
}

function walking({ table, id }: Request, conditions: RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql`select t.${sql.ref(id)} as id from ${sql.table(table)} as t where ${sql.join(conditions, sql` and `)}`
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
