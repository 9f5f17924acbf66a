import type { Log } from '../log.js'
import type { Versions } from './store.js'

export interface OpenOptions {
  /** Makes and migrates a store that is missing or older. */
  create: boolean
  /** For a store that serves: it hears of changes, answers in time and never holds the event loop. One command alone needs neither. */
  serving?: Serving | undefined
}

/** What only PostgreSQL needs to know to serve. */
export interface Serving {
  log: Log
  /** Addresses of streaming replicas to read from. */
  replicas?: readonly string[] | undefined
  /** Connections to each server. */
  connections: number
  /** How long a request may wait for the store in all. */
  timeoutSeconds: number
  /** Other processes that serve the same port. */
  siblings?: Siblings | undefined
}

/** Processes that serve one port: whichever gets the next request, it must see what any of them has acknowledged. */
export interface Siblings {
  /** Whether this process knows of every change that a sibling has acknowledged; otherwise it must ask the store. */
  readonly isInformed: boolean
  /** Takes part from now on. */
  join(member: Member): void
  /** Resolves when no sibling answers from versions before these. Never rejects. */
  announce(versions: Versions): Promise<void>
  leave(): void
}

/** What siblings ask of each other. */
export interface Member {
  /** Takes note of versions that a sibling committed. */
  note(versions: Versions): void
  /** Asks the store for its versions, by a question that begins after this call. Never rejects. */
  catchUp(): Promise<void>
}

export interface MigrateOptions {
  /** Does without the search indexes of PostgreSQL, which need an extension. */
  withoutTrigrams: boolean
}
