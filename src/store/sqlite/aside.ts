import { randomBytes } from 'node:crypto'
import { DATA_KINDS } from '../../model/kinds.js'
import { REFERENCES } from '../references.js'
import type { Connection } from './connection.js'
import { emptyLog, logBytes } from './log.js'
import { beginImmediate } from './transaction.js'

/** The tables of the data, those that others refer to first. */
const DATA_TABLES: readonly string[] = [
  ...DATA_KINDS.flatMap(({ table, list }) => (list ? [table, list.table] : [table])),
  ...['classements', 'noeuds'],
]

/** The tables beside them that name rows of each other or of the data. */
const ACCOUNT_TABLES = new Set(REFERENCES.map(({ child }) => child).filter((table) => !DATA_TABLES.includes(table)))

/** What the names of tables begin with that are not the portal's yet. */
const NEW = 'neuf_'

/** How much is in the log is looked at after so many rows. */
const BLOCK_ROWS = 5_000

/** What the name of an index has that an import made. */
const OF_AN_IMPORT = new RegExp(`^${NEW}[0-9a-f]{8}_`)

/** The log of a transaction that fills new tables is at most both of these, and what a block of rows writes. */
export interface AsideLimits {
  /** A transaction ends when it has written so much into the log. */
  maxLogBytes: number
  /** Besides, so much may wait in memory until then. */
  cacheKib: number
}

/** The data have changed since they were copied. */
export class Overtaken extends Error {}

/** Called now and then with what is done, and with all of it. */
export type OnPart = (done: number, of: number) => void

interface Table {
  name: string
  key: readonly string[]
  /** The columns of its search table, where it has one. */
  searched: readonly string[]
}

/**
 * The tables of the data, made anew beside the portal: temporary copies, which unqualified names mean on this connection
 * until they are forgotten; then new tables in the file, filled in many short transactions, of which no reader knows; in the
 * end those take the names of the old ones. The connection must not enforce foreign keys: dropping a table would delete its
 * rows one by one.
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
    this.tables = DATA_TABLES.map((name) => ({
      name,
      key: this.column(`select name from pragma_table_info('${name}') where pk > 0 order by pk`),
      searched: this.column(`select name from pragma_table_info('${searchOf(name)}')`),
    }))
  }

  /** Copies the data as they are now. */
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

  /** Lets unqualified names mean the portal again. */
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

  /** Throws `Overtaken` unless the data are what was copied, and nobody took the new tables for leftovers. */
  checkCurrent(): void {
    const isSame = this.db.value('select version_donnees from etat') === this.version
    const isThere = this.db.value('select count(*) from main.sqlite_master where name = ?', this.newOf('noeuds')) === 1
    if (!isSame || isThere !== this.isMade) throw new Overtaken()
  }

  /** Puts the new tables in the place of the old ones, in the transaction under way. */
  swap(): void {
    const list = DATA_TABLES.map((name) => `'${name}'`).join(', ')
    const triggers = this.column(`select sql from sqlite_master where type = 'trigger' and tbl_name in (${list})`)
    const names = this.tables.flatMap(({ name, searched }) => (searched.length > 0 ? [name, searchOf(name)] : [name]))
    for (const name of names) this.db.script(`drop table main.${name}`)
    for (const name of names) this.db.script(`alter table main.${this.newOf(name)} rename to ${name}`)
    for (const sql of triggers) this.db.script(sql)
  }

  /** Removes what is not the portal's yet. */
  async drop(): Promise<void> {
    await dropLeftovers(this.db, this.prefix)
  }

  /** Throws where an account refers to nothing: the engine does not look after it on this connection. */
  checkAccounts(): void {
    for (const table of ACCOUNT_TABLES) {
      const broken = this.db.value(`select count(*) from pragma_foreign_key_check('${table}')`)
      if (broken !== 0) throw new Error(`a row of ${table} names a missing row`)
    }
  }

  /** The new tables, their indexes and search tables. An index cannot be renamed later: it keeps a name of this import's. */
  private create(): void {
    for (const { name, searched } of this.tables) {
      // References lead to the new tables, so that no writer of the old ones meets them; they are renamed with what they name.
      this.db.script(DATA_TABLES.reduce((sql, each) => this.renamed(sql, each), this.sqlOf(name)))
      for (const index of this.column(
        `select name from sqlite_master where type = 'index' and tbl_name = '${name}' and sql is not null`,
      )) {
        const sql = this.sqlOf(index).replace(index, this.newOf(index.replace(OF_AN_IMPORT, '')))
        this.db.script(sql.replace(new RegExp(`(on "?)${name}\\b`, 'i'), `$1${this.newOf(name)}`))
      }
      // Its `content` keeps the name that the table has in the end.
      if (searched.length > 0) {
        const search = searchOf(name)
        this.db.script(this.sqlOf(search).replace(search, this.newOf(search)))
      }
    }
  }

  /** Adds the rows of the copies in the order of their keys, a block at each step. */
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

  /** Adds the rows after a key and says how many, and the last; undefined where there are no more. */
  private addBlock({ name, key, searched }: Table, after: unknown[]): { last: unknown[] | undefined; added: number } {
    const columns = key.join(', ')
    const bound = `(${key.map(() => '?').join(', ')})`
    const rest = `from temp.${name} where ${after.length > 0 ? `(${columns}) > ${bound}` : 'true'}`
    const found = this.db.row(
      `select ${columns} ${rest} order by ${columns} limit 1 offset ${BLOCK_ROWS - 1}`,
      ...after,
    )
    const last = found && Object.values(found)
    const block = last ? `${rest} and (${columns}) <= ${bound}` : rest
    const values = [...after, ...(last ?? [])]
    const added = this.db.change(
      `insert into main.${this.newOf(name)} select * ${block} order by ${columns}`,
      ...values,
    )
    if (searched.length > 0) {
      const texts = searched.join(', ')
      const search = this.newOf(searchOf(name))
      this.db.change(`insert into main.${search} (rowid, ${texts}) select ${columns}, ${texts} ${block}`, ...values)
    }
    return { last, added }
  }

  /** One transaction of the filling, whose log is moved into the file at once. */
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
    return String(this.db.value('select sql from main.sqlite_master where name = ?', name))
  }

  private column(sql: string): string[] {
    return this.db.rows(sql).map((row) => String(Object.values(row as object)[0]))
  }
}

function searchOf(table: string): string {
  return `${table}_recherche`
}

/** Removes the new tables that imports left behind; one that still goes on notices, and does without. */
export async function dropLeftovers(db: Connection, prefix = NEW): Promise<void> {
  const found = () =>
    db.value(
      `select name from main.sqlite_master where type = 'table' and name glob '${prefix}*' order by sql like 'create virtual%' desc`,
    )
  if (found() === undefined) return
  await beginImmediate(db)
  try {
    // A search table takes those that it is made of along.
    for (let name = found(); name !== undefined; name = found()) db.script(`drop table main."${name}"`)
    db.change('commit')
  } finally {
    db.rollback()
  }
}
