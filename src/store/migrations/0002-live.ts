import { liveFill, livePostgres, liveSqlite } from './0002-live.sql.js'
import type { Migration } from './migration.js'

/** The journal, and the rankings by category and by period. */
export const live: Migration = {
  version: 2,
  nom: 'live',
  sqlite: [...liveSqlite, ...liveFill],
  postgres: [...livePostgres, ...liveFill],
}
