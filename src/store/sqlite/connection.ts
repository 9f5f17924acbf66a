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
  /** As they are, and made to answer with one JSON text. */
  private readonly prepared = new Map<string, Prepared>()
  private readonly preparedAsJson = new Map<string, Prepared>()

  constructor(
    readonly path: string,
    options: OpenOptions,
  ) {
    super()
    this.driver = openDriver(path, options)
  }

  async load(table: string, columns: readonly string[], rows: Iterable<readonly unknown[]>): Promise<void> {
    const sql = `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`
    const { statement } = this.prepare(sql)
    translate(this.path, () => {
      for (const row of rows) statement.run(...(row as never[]))
    })
  }

  /**
   * SQLite writes the rows as one JSON text: reading a text crosses from C once, where reading rows crosses once for
   * each value and takes nearly three times as long (50 rows of 3 columns: 64 µs as rows, 24 µs so).
   */
  rows(sql: string, values: readonly unknown[] = []): unknown[] {
    const { statement, toObject } = this.prepareAsJson(sql)
    const text = translate(this.path, () => statement.get(...(values as never[]))) as unknown as [string]
    return (JSON.parse(text[0]) as unknown[][]).map(toObject)
  }

  row(sql: string, values: readonly unknown[] = []): Record<string, unknown> | undefined {
    const { statement, toObject } = this.prepare(sql)
    const row = translate(this.path, () => statement.get(...(values as never[]))) as unknown as unknown[] | undefined
    return row && toObject(row)
  }

  /** One value of one row, for pragmas and counts. */
  value(sql: string, values: readonly unknown[] = []): unknown {
    const { statement } = this.prepare(sql)
    const row = translate(this.path, () => statement.get(...(values as never[]))) as unknown as unknown[] | undefined
    return row?.[0]
  }

  change(sql: string, values: readonly unknown[] = []): number {
    const { statement } = this.prepare(sql)
    return translate(this.path, () => Number(statement.run(...(values as never[])).changes))
  }

  /** Runs statements that take no parameter and are not worth keeping prepared. */
  script(sql: string): void {
    translate(this.path, () => this.driver.exec(sql))
  }

  /** Takes back a transaction, where SQLite has not done so itself, as it does when the disk is full. */
  rollback(): void {
    if (this.driver.isTransaction) this.script('rollback')
  }

  /** Ends its transaction first: SQLite keeps a closed connection's snapshot as long as any statement of it is in memory. */
  close(): void {
    this.rollback()
    this.prepared.clear()
    this.preparedAsJson.clear()
    this.driver.close()
  }

  private prepareAsJson(sql: string): Prepared {
    const known = this.preparedAsJson.get(sql)
    if (known) return known
    const prepared = translate(this.path, () => {
      const names = namesOf(this.driver.prepare(sql))
      const list = names.map((name) => `"${name}"`).join(', ')
      const statement = this.driver.prepare(`select json_group_array(json_array(${list})) from (${sql})`)
      statement.setReturnArrays(true)
      return { statement, toObject: objectMaker(names) }
    })
    return keep(this.preparedAsJson, sql, prepared)
  }

  private prepare(sql: string): Prepared {
    const known = this.prepared.get(sql)
    if (known) return known
    const prepared = translate(this.path, () => {
      const statement = this.driver.prepare(sql)
      statement.setReturnArrays(true)
      return { statement, toObject: objectMaker(namesOf(statement)) }
    })
    return keep(this.prepared, sql, prepared)
  }
}

const READER_BUSY_TIMEOUT_MILLISECONDS = 1_000

/** Reads the file where the system holds it, up to the 2 GiB that SQLite can map; a cache of its own would hold it twice. */
export function openReader(path: string): Connection {
  const reader = new Connection(path, { readOnly: true, busyTimeoutMilliseconds: READER_BUSY_TIMEOUT_MILLISECONDS })
  reader.script('pragma cache_size = -4096; pragma mmap_size = 2147418112')
  return reader
}

/** Fails at once if the file is locked; `beginImmediate` retries without blocking the thread. */
export function openWriter(path: string): Connection {
  const writer = new Connection(path, { busyTimeoutMilliseconds: 0 })
  writer.script('pragma synchronous = full; pragma cache_size = -16384; pragma journal_size_limit = 67108864')
  return writer
}

interface Prepared {
  /** Gives rows as arrays, which the driver makes faster than objects. */
  statement: DriverStatement
  toObject: ObjectMaker
}

type ObjectMaker = (row: unknown[]) => Record<string, unknown>

function namesOf(statement: DriverStatement): string[] {
  return statement.columns().map((column) => column.name)
}

/**
 * Makes objects of one fixed shape, which the runtime reads several times faster than objects that were filled by name.
 * The names are those of our own statements' columns.
 */
function objectMaker(names: string[]): ObjectMaker {
  const fields = names.map((name, index) => `${JSON.stringify(name)}: row[${index}]`)
  return new Function('row', `return { ${fields.join(', ')} }`) as ObjectMaker
}

function keep<T>(cache: Map<string, T>, key: string, value: T): T {
  if (cache.size >= MAX_PREPARED) cache.delete(cache.keys().next().value as string)
  cache.set(key, value)
  return value
}
