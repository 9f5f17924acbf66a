import { statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  createDatabase,
  dropDatabase,
  findBinaries,
  type PostgresServer,
  runSql,
  startPrimary,
} from '../test/servers/postgres.js'

/** The engines that a portal can be kept in. One more needs its databases here, and a hand-written server of its own. */
export const ENGINES = ['sqlite', 'postgres'] as const
export type Engine = (typeof ENGINES)[number]

/** An empty place for one portal. */
export interface Database {
  engine: Engine
  /** What Palmarès calls it. */
  url: string
  /** What a driver calls it. */
  address: string
  /** What the portal takes on disk by now. */
  diskBytes(): Promise<number>
  drop(): Promise<void>
}

/** What an operator would give PostgreSQL on a machine of a few GB; above all, what is committed is on the disk. */
const SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '512MB',
  max_wal_size: '4GB',
  work_mem: '64MB',
  maintenance_work_mem: '256MB',
  max_connections: '100',
}

const END_MILLISECONDS = 15_000

/** The databases of a run: none of them outlives it. */
export class Databases {
  private readonly open = new Set<Database>()
  private server: Promise<PostgresServer> | undefined

  constructor(
    private readonly folder: string,
    private readonly given = process.env.BENCH_DATABASE_URL,
  ) {}

  /** Throws where an engine is not to be had, before anything is measured. */
  async check(engines: readonly Engine[]): Promise<void> {
    if (!engines.includes('postgres')) return
    if (!this.given && !findBinaries())
      throw new Error('there is no PostgreSQL: install its server, or set BENCH_DATABASE_URL to an admin of one')
    if (!this.given) return
    await runSql(this.given, 'select 1').catch((error) => {
      throw new Error(`BENCH_DATABASE_URL leads to no PostgreSQL that answers: ${error.message}`)
    })
  }

  async make(engine: Engine, name: string): Promise<Database> {
    const made = engine === 'sqlite' ? this.makeFile(name) : await this.makePostgres()
    this.open.add(made)
    return { ...made, drop: () => this.drop(made) }
  }

  /** Leaves nothing behind, as far as that can be done in a few seconds. */
  async end(): Promise<void> {
    const dropped = Promise.allSettled([...this.open].map((database) => this.drop(database)))
    const ended = dropped.then(async () => (await this.server)?.destroy())
    await Promise.race([ended, sleep(END_MILLISECONDS)])
  }

  private async drop(database: Database): Promise<void> {
    this.open.delete(database)
    await database.drop()
  }

  private makeFile(name: string): Database {
    const file = join(this.folder, `${name}.db`)
    const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
    return {
      engine: 'sqlite',
      url: `sqlite:${file}`,
      address: file,
      diskBytes: async () => sizeOf(file) + sizeOf(`${file}-wal`),
      // The folder of the run goes as a whole.
      drop: async () => undefined,
    }
  }

  private async makePostgres(): Promise<Database> {
    const url = await createDatabase(this.given ?? (await this.startServer()))
    return {
      engine: 'postgres',
      url,
      address: url,
      diskBytes: async () => {
        const [row] = await runSql<{ size: string }>(url, 'select pg_database_size(current_database()) as size')
        return Number(row?.size)
      },
      drop: () => dropDatabase(url),
    }
  }

  private startServer(): Promise<PostgresServer> {
    // Its files would be in memory otherwise, where the tests want them.
    process.env.TMPDIR ??= tmpdir()
    this.server ??= startPrimary({ settings: SETTINGS })
    return this.server
  }
}
