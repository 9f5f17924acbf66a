import { bind, compiledOf, type Parameters, type Statement } from '../src/store/query.js'
import type { Db, Store } from '../src/store/store.js'
import { watchedStore } from './watched.js'

/** The tables and indexes that a plan scans as a whole. Temporary tables of a batch are not in `tables`. */
export async function walksOf(
  db: Db,
  sql: string,
  values: unknown[],
  tables: readonly string[],
  /** Indexes that cover more rows than the statement needs. */
  wide: readonly string[] = [],
): Promise<string[]> {
  if (!/^\s*(select|insert|update|delete|with)\b/i.test(sql)) return []
  if (db.engine === 'sqlite') {
    const steps = (db as unknown as Planning).prepare(`explain query plan ${sql}`).statement.all(...values)
    // A search by the first column of a key alone reads all rows that share it.
    const details = steps.map(([, , , detail]) => String(detail))
    const walked = details.map(
      (detail) => /^(?:SCAN|SEARCH(?=.*\b(?:cle|cle_classement|date)[<>])) (\w+)/.exec(detail)?.[1],
    )
    const own = walked.filter((name) => name !== undefined && isOneOf(tables, name, sql)) as string[]
    return [...own, ...wide.filter((index) => details.some((detail) => detail.includes(`INDEX ${index} `)))]
  }
  const [plan] = await db.select<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(`explain (format json) ${sql}`, ...values)
  const root = plan!['QUERY PLAN'][0]!.Plan
  const own = walksIn(root).filter((name) => isOneOf(tables, name, sql))
  return [...own, ...wide.filter((index) => indexesIn(root).includes(index))]
}

/** Internals of a SQLite connection, whose public methods have no `explain`. */
interface Planning {
  prepare(sql: string): { statement: { all(...values: unknown[]): unknown[][] } }
}

/** Makes PostgreSQL's planner believe that tables are large, because it may scan small ones. */
export async function pretendLarge(db: Db): Promise<void> {
  await db.exec(
    `update pg_class set reltuples = 10000000 where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace`,
  )
}

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Plans?: PlanNode[]
}

function walksIn(node: PlanNode): string[] {
  // A condition such as `is not null` does not narrow the search.
  const isWalk = /^(Seq Scan|Index)/.test(node['Node Type']) && !/[=<>]/.test(node['Index Cond'] ?? '')
  const own = isWalk && node['Relation Name'] ? [node['Relation Name']] : []
  return [...own, ...(node.Plans ?? []).flatMap(walksIn)]
}

function indexesIn(node: PlanNode): string[] {
  return [node['Index Name'] ?? [], ...(node.Plans ?? []).map(indexesIn)].flat()
}

/** A plan names a table or, on SQLite, an alias of one. */
function isOneOf(tables: readonly string[], name: string, sql: string): boolean {
  const table = new RegExp(`(?:from|join|update|into)\\s+(\\w+)\\s+(?:as\\s+)?${name}\\b`, 'i').exec(sql)?.[1] ?? name
  return tables.includes(table)
}

type Look = (db: Db, sql: string, values: unknown[]) => Promise<void>

/** A store that calls `look` before each statement of its writes. */
export function watching(store: Store, look: Look): Store {
  return watchedStore(store, (db) => {
    const plain = db as unknown as Record<string, (...given: unknown[]) => Promise<never>>
    const query =
      (name: string) =>
      async (query: Statement<Parameters, unknown>, given: Parameters = {}) => {
        const compiled = compiledOf(query, db.engine)
        await look(db, compiled.sql, bind(compiled, given))
        return plain[name]!.call(db, query, given)
      }
    const text =
      (name: string) =>
      async (sql: string, ...values: unknown[]) => {
        await look(db, sql, values)
        return plain[name]!.call(db, sql, ...values)
      }
    const of = { all: query('all'), get: query('get'), run: query('run'), exec: text('exec'), select: text('select') }
    return of as unknown as Partial<Db>
  })
}
