import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { QueryConfig, QueryResult } from 'pg'
import { EngineDb } from '../engine-db.js'
import { type Search, StoreError } from '../store.js'
import type { Address } from './address.js'
import { type Client, copyFrom, type PoolClient, sendTogether, toStoreError } from './driver.js'

/** One PostgreSQL connection, lent for one piece of work that ends before its deadline. */
export class Connection extends EngineDb {
  readonly engine = 'postgres'
  /** Whether the server cannot be reached through it any more. */
  isBroken = false

  constructor(
    private readonly client: Client | PoolClient,
    private readonly address: Address,
    readonly search: Search,
    private readonly deadline = Number.POSITIVE_INFINITY,
  ) {
    super()
  }

  async rows(sql: string, values: readonly unknown[] = [], name?: string): Promise<unknown[]> {
    return (await this.ask(sql, values, name)).rows
  }

  async row(sql: string, values: readonly unknown[] = [], name?: string): Promise<Record<string, unknown> | undefined> {
    return (await this.ask(sql, values, name)).rows[0]
  }

  async change(sql: string, values: readonly unknown[] = [], name?: string): Promise<number> {
    return (await this.ask(sql, values, name)).rowCount ?? 0
  }

  async load(table: string, columns: readonly string[], rows: Iterable<readonly unknown[]>): Promise<void> {
    const copy = this.client.query(copyFrom(`copy ${table} (${columns.join(', ')}) from stdin`))
    try {
      await pipeline(Readable.from(copyChunks(rows), { highWaterMark: 1 }), copy)
    } catch (error) {
      throw this.faultOf(error)
    }
  }

  async analyze(...tables: string[]): Promise<void> {
    for (const table of tables) await this.exec(`analyze ${table}`)
  }

  async passIds(table: string, column: string): Promise<void> {
    const sequence = `pg_get_serial_sequence('${table}', '${column}')`
    await this.exec(
      `select setval(${sequence}, greatest(max(${column}), nextval(${sequence}))) from ${table} having count(*) > 0`,
    )
  }

  /** Runs a query of the driver's own form, within what is left of the time. */
  async query(config: QueryConfig): Promise<QueryResult> {
    const left = this.deadline - Date.now()
    try {
      if (left <= 0) throw outOfTime(this.address)
      sendTogether(this.client)
      const bounded = Number.isFinite(left) ? { ...config, query_timeout: left } : config
      return await this.client.query(bounded)
    } catch (error) {
      throw this.faultOf(error)
    }
  }

  private faultOf(error: unknown): unknown {
    const fault = toStoreError(this.address, error)
    this.isBroken ||= fault instanceof StoreError && fault.fault === 'unreachable'
    return fault
  }

  /** A statement with a name is compiled, so its places have numbers already. */
  private ask(sql: string, given: readonly unknown[], name: string | undefined): Promise<QueryResult> {
    const values = given as unknown[]
    return this.query(name === undefined ? { text: numbered(sql), values } : { name, text: sql, values })
  }
}

function outOfTime(address: Address): StoreError {
  return new StoreError(
    'unreachable',
    `${address.shown}: PostgreSQL does not answer in time; look at its load and its log`,
  )
}

/** PostgreSQL numbers the places of values where we write `?`, which our statements hold nowhere else. */
function numbered(sql: string): string {
  let count = 0
  return sql.replace(/\?/g, () => `$${++count}`)
}

/** Rows are made while they are sent, so many at a time that nothing else waits long. */
const COPY_CHUNK_CHARACTERS = 100_000

/** Rows as the bytes that COPY takes, some at a time. */
function* copyChunks(rows: Iterable<readonly unknown[]>): Generator<Buffer> {
  let text = ''
  for (const row of rows) {
    text += toCopyLine(row)
    if (text.length < COPY_CHUNK_CHARACTERS) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}

/** A row in COPY's text format, https://www.postgresql.org/docs/current/sql-copy.html. */
function toCopyLine(row: readonly unknown[]): string {
  return `${row.map(toCopyValue).join('\t')}\n`
}

function toCopyValue(value: unknown): string {
  if (value === null || value === undefined) return '\\N'
  return typeof value === 'string' ? value.replace(/[\\\n\r\t]/g, (c) => ESCAPES[c] as string) : String(value)
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }
