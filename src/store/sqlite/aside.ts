import { randomBytes } from 'node:crypto'
import { DATA_TABLES } from '../dependencies.js'
import { REFERENCES } from '../references.js'
import { searchIndexOf } from '../search-index.js'
import type { Connection } from './connection.js'
import { emptyLog, logBytes } from './log.js'
import { beginImmediate } from './transaction.js'

/** The tables of the data and what follows from them, referenced tables first, and the settings that rank. */
const TABLES: readonly string[] = [...DATA_TABLES, 'classements', 'groupes', 'noeuds', 'reglages']

/** Other tables that refer to each other or to the data. */
const ACCOUNT_TABLES = new Set(REFERENCES.map(({ child }) => child).filter((table) => !TABLES.includes(table)))

/** Prefix of tables that are not part of the portal yet. */
const NEW = 'neuf_'

/** Rows between two checks of the log's size. */
const BLOCK_ROWS = 5_000

/** Prefix of an index that an import made. */
const OF_AN_IMPORT = new RegExp(`^${NEW}[0-9a-f]{8}_`)

/** The log of a filling transaction is limited to the sum of these, and what one block of rows writes. */
export interface AsideLimits {
  /** A transaction ends when it has written this much to the log. */
  maxLogBytes: number
  /** This much more may wait in memory until then. */
  cacheKib: number
}

/** The data has changed since it was copied. */
export class Overtaken extends Error {}

/** Called now and then with the rows or tables done, and their total. */
export type OnPart = (done: number, of: number) => void

interface Table {
  name: string
  key: readonly string[]
  /** The columns of its search table, where it has one. */
  searched: readonly string[]
}

/**
 * Rebuilds the data tables in three steps. First as temporary copies, which hide the real tables on this connection. Then as
 * new tables in the file, filled in many short transactions and unknown to readers. Finally the new tables are renamed to the
 * old names. The connection must not enforce foreign keys: dropping a table would delete its rows one by one.
 */
export class Aside {
  private readonly prefix = `${NEW}${randomBytes(4).toString('hex')}_`
  private readonly tables: readonly Table[]
  private version: unknown
  private isMade = false

  constructor(
    private readonly db: Connection,
    private readonly limits: AsideLimits,
  ) {
    this.tables = TABLES.map((name) => ({
      name,
      key: this.column(`select name from pragma_table_info('${name}') where pk > 0 order by pk`),
      searched: this.column(`select name from pragma_table_info('${searchIndexOf(name)}')`),
    }))
  }

  /** Copies the current data. */
  copy(onTable: OnPart = () => undefined): void {
    this.db.change('begin')
    this.version = this.db.value('select version_donnees from etat')
    for (const [done, { name }] of this.tables.entries()) {
      onTable(done, this.tables.length)
      this.db.script(this.sqlOf(name).replace(/^create table/i, 'create temporary table'))
      this.db.change(`insert into temp.${name} select * from main.${name}`)
    }
    this.db.change('commit')
  }

  /** Drops the copies, so that unqualified names mean the portal again. */
  forget(): void {
    for (const { name } of this.tables) this.db.script(`drop table if exists temp.${name}`)
  }

  /** Fills new tables from the copies. Throws `Overtaken`. */
  async fill(onRows: OnPart = () => undefined): Promise<void> {
    this.db.script(`pragma main.cache_size = -${this.limits.cacheKib}`)
    await this.slice(() => this.create())
    this.isMade = true
    const rows = this.tables.reduce(
      (sum, { name }) => sum + Number(this.db.value(`select count(*) from temp.${name}`)),
      0,
    )
    let filled = 0
    const blocks = this.addBlocks((added) => {
      onRows(filled, rows)
      filled += added
    })
    for (let isDone = false; !isDone; ) {
      await this.slice((isFull) => {
        do isDone = blocks.next().done === true
        while (!isDone && !isFull())
      })
    }
  }

  /** Throws `Overtaken` if the data has changed since the copy, or another import has dropped the new tables as leftovers. */
  checkCurrent(): void {
    const isSame = this.db.value('select version_donnees from etat') === this.version
    const isThere =
      this.db.value('select count(*) from main.sqlite_master where name = ?', [this.newOf('noeuds')]) === 1
    if (!isSame || isThere !== this.isMade) throw new Overtaken()
  }

  /** Replaces the old tables with the new ones, in the current transaction. */
  swap(): void {
    const list = TABLES.map((name) => `'${name}'`).join(', ')
    const triggers = this.column(`select sql from sqlite_master where type = 'trigger' and tbl_name in (${list})`)
    const names = this.tables.flatMap(({ name, searched }) =>
      searched.length > 0 ? [name, searchIndexOf(name)] : [name],
    )
    for (const name of names) this.db.script(`drop table main.${name}`)
    for (const name of names) this.db.script(`alter table main.${this.newOf(name)} rename to ${name}`)
    for (const sql of triggers) this.db.script(sql)
  }

  /** Drops the new tables that did not become part of the portal. */
  async drop(): Promise<void> {
    await dropLeftovers(this.db, this.prefix)
  }

  /** Throws if an account refers to a missing row, because this connection does not enforce foreign keys. */
  checkAccounts(): void {
    for (const table of ACCOUNT_TABLES) {
      const broken = this.db.value(`select count(*) from pragma_foreign_key_check('${table}')`)
      if (broken !== 0) throw new Error(`a row of ${table} names a missing row`)
    }
  }

  /**
   * Creates the new tables with their indexes and search tables. An index cannot be renamed later, so it keeps a name of this
   * import.
   */
  private create(): void {
    for (const { name, searched } of this.tables) {
      // References point to the new tables, so that writers of the old ones are not affected. Renaming a table also changes the
      // references to it.
      this.db.script(TABLES.reduce((sql, each) => this.renamed(sql, each), this.sqlOf(name)))
      for (const index of this.column(
        `select name from sqlite_master where type = 'index' and tbl_name = '${name}' and sql is not null`,
      )) {
        const sql = this.sqlOf(index).replace(index, this.newOf(index.replace(OF_AN_IMPORT, '')))
        this.db.script(sql.replace(new RegExp(`(on "?)${name}\\b`, 'i'), `$1${this.newOf(name)}`))
      }
      // Its `content` names the table by its final name.
      if (searched.length > 0) {
        const search = searchIndexOf(name)
        this.db.script(this.sqlOf(search).replace(search, this.newOf(search)))
      }
    }
  }

  /** Adds the rows of the copies in key order, one block per step. */
  private *addBlocks(onBlock: (added: number) => void): Generator<void> {
    for (const table of this.tables) {
      for (let after: unknown[] | undefined = []; after; ) {
        const { last, added } = this.addBlock(table, after)
        onBlock(added)
        after = last
        yield
      }
    }
  }

  /** Copies the next rows after a key. Returns how many, and the last key; undefined at the end of the table. */
  private addBlock({ name, key, searched }: Table, after: unknown[]): { last: unknown[] | undefined; added: number } {
    const columns = key.join(', ')
    const bound = `(${key.map(() => '?').join(', ')})`
    const rest = `from temp.${name} where ${after.length > 0 ? `(${columns}) > ${bound}` : 'true'}`
    const found = this.db.row(`select ${columns} ${rest} order by ${columns} limit 1 offset ${BLOCK_ROWS - 1}`, after)
    const last = found && Object.values(found)
    const block = last ? `${rest} and (${columns}) <= ${bound}` : rest
    const values = [...after, ...(last ?? [])]
    const added = this.db.change(`insert into main.${this.newOf(name)} select * ${block} order by ${columns}`, values)
    if (searched.length > 0) {
      const texts = searched.join(', ')
      const search = this.newOf(searchIndexOf(name))
      this.db.change(`insert into main.${search} (rowid, ${texts}) select ${columns}, ${texts} ${block}`, values)
    }
    return { last, added }
  }

  /** Runs one transaction of the filling, then moves its log into the file. */
  private async slice(work: (isFull: () => boolean) => void): Promise<void> {
    await beginImmediate(this.db)
    try {
      this.checkCurrent()
      const before = logBytes(this.db.path)
      work(() => logBytes(this.db.path) - before > this.limits.maxLogBytes)
      this.db.change('commit')
    } finally {
      this.db.rollback()
    }
    await emptyLog(this.db)
  }

  private renamed(sql: string, name: string): string {
    return sql.replace(new RegExp(`\\b${name}\\b`, 'g'), this.newOf(name))
  }

  private newOf(name: string): string {
    return `${this.prefix}${name}`
  }

  private sqlOf(name: string): string {
    return String(this.db.value('select sql from main.sqlite_master where name = ?', [name]))
  }

  private column(sql: string): string[] {
    return this.db.rows(sql).map((row) => String(Object.values(row as object)[0]))
  }
}

/** Drops new tables that imports left behind. An import that is still running notices it, and merges without them. */
export async function dropLeftovers(db: Connection, prefix = NEW): Promise<void> {
  const found = () =>
    db.value(
      `select name from main.sqlite_master where type = 'table' and name glob '${prefix}*' order by sql like 'create virtual%' desc`,
    )
  if (found() === undefined) return
  await beginImmediate(db)
  try {
    // Dropping a search table also drops its internal tables.
    for (let name = found(); name !== undefined; name = found()) db.script(`drop table main."${name}"`)
    db.change('commit')
  } finally {
    db.rollback()
  }
}
