import { EngineDb, type Here } from '../engine-db.js'
import { search } from './search.js'

/** A connection of this thread, or of another one. */
export abstract class SqliteDb extends EngineDb {
  readonly engine = 'sqlite'
  readonly search = search

  /** Rolls back the transaction, if there is one. */
  abstract rollback(): Here<void>
  abstract close(): Here<void>

  /** Nothing to do: SQLite plans our joins by their indexes. */
  async analyze(): Promise<void> {}

  /** Nothing to do: `autoincrement` passes every id that was ever inserted. */
  async passIds(): Promise<void> {}
}
