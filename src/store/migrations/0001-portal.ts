import { portalPostgres } from './0001-portal.postgres.js'
import { portalSqlite } from './0001-portal.sqlite.js'
import type { Migration } from './migration.js'

/** Everything the first release holds. */
export const portal: Migration = { version: 1, nom: 'portal', sqlite: portalSqlite, postgres: portalPostgres }
