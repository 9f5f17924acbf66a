import type { Migration } from './migrations/migration.js'
import type { Store, StoreLog } from './store.js'

export interface OpenOptions {
  /** Makes and migrates a store that is missing or older. */
  create: boolean
  /** For a store that serves: it hears of changes, answers in time and never holds the event loop. One command alone needs neither. */
  serving?: Serving | undefined
}

/** What only PostgreSQL needs to know to serve. */
export interface Serving {
  log: StoreLog
  /** Addresses of streaming replicas to read from. */
  replicas?: readonly string[] | undefined
  /** Connections to each server. */
  connections: number
  /** How long a request may wait for the store in all. */
  timeoutSeconds: number
}

export interface MigrateOptions {
  /** Does without the search indexes of PostgreSQL, which need an extension. */
  withoutTrigrams: boolean
}

/** What an engine does with an address before there is a store. */
export interface Opener {
  open(url: string, options: OpenOptions): Promise<Store>
  pending(url: string): Promise<Migration[]>
  migrate(url: string, options: MigrateOptions): Promise<Migration[]>
}
