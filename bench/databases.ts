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

/** The engines. A new one needs its databases here, and its own hand-written server. */
export const ENGINES = ['sqlite', 'postgres'] as const
export type Engine = (typeof ENGINES)[number]

/** An empty place for one portal. */
export interface Database {
  engine: Engine
  /** Its URL for Palmarès. */
  url: string
  /** Its URL for a driver. */
  address: string
  /** The portal's current disk usage. */
  diskBytes(): Promise<number>
  drop(): Promise<void>
}

/** Typical settings for PostgreSQL on a machine with a few GB. Most important: commits are durable. */
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

/** The databases of a run; all are removed at its end. */
export class Databases {
  private readonly open = new Set<Database>()
  private server: Promise<PostgresServer> | undefined

  constructor(
    private readonly folder: string,
    private readonly given = process.env.BENCH_DATABASE_URL,
  ) {}

  /** Throws if an engine is not available, before any measurement. */
  async check(engines: readonly Engine[]): Promise<void> {
    if (!engines.includes('postgres')) return
    if (!this.given && !findBinaries())
      throw new Error('PostgreSQL not found: install its server, or set BENCH_DATABASE_URL to the URL of an admin user')
    if (!this.given) return
    await runSql(this.given, 'select 1').catch((error) => {
      throw new Error(`cannot connect to the PostgreSQL server in BENCH_DATABASE_URL: ${error.message}`)
    })
  }

  async make(engine: Engine, name: string): Promise<Database> {
    const made = engine === 'sqlite' ? this.makeFile(name) : await this.makePostgres()
    this.open.add(made)
    return { ...made, drop: () => this.drop(made) }
  }

  /** Removes everything, within a few seconds. */
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
      // The folder of the run is removed as a whole.
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
    // On disk: the tests put these files in memory.
    process.env.TMPDIR ??= tmpdir()
    this.server ??= startPrimary({ settings: SETTINGS })
    return this.server
  }
}
