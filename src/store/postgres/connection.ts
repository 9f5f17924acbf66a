import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Compilable } from 'kysely'
import type { QueryConfig, QueryResult } from 'pg'
import type { HeldNodes } from '../nodes.js'
import { bind, builders, type CompiledStatement, compiledOf, type Parameters, type Statement } from '../query.js'
import { type Reads, sourcesOfText } from '../reads.js'
import { type Db, type Search, StoreError } from '../store.js'
import type { Address } from './address.js'
import { type Client, copyFrom, type PoolClient, sendTogether, toStoreError } from './driver.js'

/** One PostgreSQL connection, lent for one piece of work that ends before its deadline. */
export class Connection implements Db {
  readonly engine = 'postgres'
  readonly q = builders.postgres
  readonly onCommit = 'on commit delete rows'
  /** Set for each snapshot. */
  nodes: HeldNodes | undefined
  reads: Reads | undefined
  /** Whether the server cannot be reached through it any more. */
  isBroken = false

  constructor(
    private readonly client: Client | PoolClient,
    private readonly address: Address,
    readonly search: Search,
    private readonly deadline = Number.POSITIVE_INFINITY,
  ) {}

  async all(query: Compilable<unknown> | Statement<Parameters, unknown>, given: Parameters = {}): Promise<never[]> {
    return (await this.readRows(query, given)) as never[]
  }

  async get(query: Compilable<unknown> | Statement<Parameters, unknown>, given: Parameters = {}): Promise<never> {
    return (await this.readRows(query, given))[0] as never
  }

  async run(query: Compilable<unknown> | Statement<Parameters, unknown>, given: Parameters = {}): Promise<number> {
    return (await this.runCompiled(compiledOf(query, 'postgres'), given)).rowCount ?? 0
  }

  async exec(sql: string, ...values: unknown[]): Promise<number> {
    return (await this.query({ text: numbered(sql), values })).rowCount ?? 0
  }

  async select<R>(sql: string, ...values: unknown[]): Promise<R[]> {
    this.reads?.statement(sourcesOfText(sql), {}, [])
    return (await this.query({ text: numbered(sql), values })).rows as R[]
  }

  async load(table: string, columns: readonly string[], rows: readonly unknown[][]): Promise<void> {
    const copy = this.client.query(copyFrom(`copy ${table} (${columns.join(', ')}) from stdin`))
    try {
      await pipeline(Readable.from(copyChunks(rows)), copy)
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

  private async readRows(
    query: Compilable<unknown> | Statement<Parameters, unknown>,
    given: Parameters,
  ): Promise<unknown[]> {
    const compiled = compiledOf(query, 'postgres')
    const { rows } = await this.runCompiled(compiled, given)
    this.reads?.statement(compiled.sources ?? sourcesOfText(compiled.sql), given, rows)
    return rows
  }

  private runCompiled(compiled: CompiledStatement, given: Parameters): Promise<QueryResult> {
    const { name, sql: text } = compiled
    const values = bind(compiled, given)
    return this.query(name === undefined ? { text, values } : { name, text, values })
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

const COPY_CHUNK_CHARACTERS = 1_000_000

/** Rows as the bytes that COPY takes, some at a time: together they may be longer than a text can be. */
function* copyChunks(rows: readonly unknown[][]): Generator<Buffer> {
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
