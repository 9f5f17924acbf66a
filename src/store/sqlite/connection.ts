import { SqliteDb } from './db.js'
import { type Driver, type DriverStatement, type OpenOptions, openDriver, translate } from './driver.js'

/** Statements kept prepared on a connection; filters and padded lists make some hundred shapes, this leaves room. */
const MAX_PREPARED = 300

/**
 * One SQLite connection. Its calls are synchronous under their promises: nothing else runs between two queries of the
 * same tick, and no promise of `Db` waits for more than a microtask.
 */
export class Connection extends SqliteDb {
  private readonly driver: Driver
  private readonly prepared = new Map<string, DriverStatement>()
  private readonly rowReaders = new Map<string, RowReader>()

  constructor(
    readonly path: string,
    options: OpenOptions,
  ) {
    super()
    this.driver = openDriver(path, options)
  }

  async load(table: string, columns: readonly string[], rows: readonly unknown[][]): Promise<void> {
    const sql = `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`
    const statement = this.prepare(sql)
    translate(this.path, () => {
      for (const row of rows) statement.run(...(row as never[]))
    })
  }

  /**
   * SQLite writes the rows as one JSON text: reading a text crosses from C once, where reading rows crosses once for
   * each value and takes nearly three times as long (50 rows of 3 columns: 64 µs as rows, 24 µs so).
   */
  rows(sql: string, ...values: unknown[]): unknown[] {
    const reader = this.rowReader(sql)
    const text = translate(this.path, () => reader.statement.get(...(values as never[]))) as unknown as [string]
    return reader.toObjects(JSON.parse(text[0]))
  }

  row(sql: string, ...values: unknown[]): Record<string, unknown> | undefined {
    return translate(this.path, () => this.prepare(sql).get(...(values as never[]))) as never
  }

  /** One value of one row, for pragmas and counts. */
  value(sql: string, ...values: unknown[]): unknown {
    const row = this.row(sql, ...values)
    return row && Object.values(row)[0]
  }

  change(sql: string, ...values: unknown[]): number {
    return translate(this.path, () => Number(this.prepare(sql).run(...(values as never[])).changes))
  }

  /** Runs statements that take no parameter and are not worth keeping prepared. */
  script(sql: string): void {
    translate(this.path, () => this.driver.exec(sql))
  }

  /** Takes back a transaction, where SQLite has not done so itself, as it does when the disk is full. */
  rollback(): void {
    if (this.driver.isTransaction) this.script('rollback')
  }

  close(): void {
    this.prepared.clear()
    this.rowReaders.clear()
    this.driver.close()
  }

  private rowReader(sql: string): RowReader {
    const known = this.rowReaders.get(sql)
    if (known) return known
    const reader = translate(this.path, () => {
      const names = this.driver
        .prepare(sql)
        .columns()
        .map((column) => column.name)
      const list = names.map((name) => `"${name}"`).join(', ')
      const statement = this.driver.prepare(`select json_group_array(json_array(${list})) from (${sql})`)
      statement.setReturnArrays(true)
      return { statement, toObjects: objectMaker(names) }
    })
    return keep(this.rowReaders, sql, reader)
  }

  private prepare(sql: string): DriverStatement {
    return (
      this.prepared.get(sql) ??
      keep(
        this.prepared,
        sql,
        translate(this.path, () => this.driver.prepare(sql)),
      )
    )
  }
}

const READER_BUSY_TIMEOUT_MILLISECONDS = 1_000

export function openReader(path: string): Connection {
  const reader = new Connection(path, { readOnly: true, busyTimeoutMilliseconds: READER_BUSY_TIMEOUT_MILLISECONDS })
  reader.script('pragma cache_size = -32768; pragma mmap_size = 268435456')
  return reader
}

/** A writer never blocks its thread for a lock: whoever begins a transaction waits in the event loop. */
export function openWriter(path: string): Connection {
  const writer = new Connection(path, { busyTimeoutMilliseconds: 0 })
  writer.script('pragma synchronous = full; pragma cache_size = -65536; pragma journal_size_limit = 67108864')
  return writer
}

interface RowReader {
  statement: DriverStatement
  toObjects: (rows: unknown[][]) => unknown[]
}

/**
 * Makes objects of one fixed shape, which the runtime reads several times faster than objects that were filled by name.
 * The names are those of our own statements' columns.
 */
function objectMaker(names: string[]): (rows: unknown[][]) => unknown[] {
  const fields = names.map((name, index) => `${JSON.stringify(name)}: row[${index}]`)
  return new Function('rows', `return rows.map((row) => ({ ${fields.join(', ')} }))`) as (
    rows: unknown[][],
  ) => unknown[]
}

function keep<T>(cache: Map<string, T>, key: string, value: T): T {
  if (cache.size >= MAX_PREPARED) cache.delete(cache.keys().next().value as string)
  cache.set(key, value)
  return value
}
