import type { Migration } from './migration.js'

/** When the last import changed something. */
export const lastImport: Migration = {
  version: 3,
  nom: 'import',
  sqlite: ['alter table etat add column dernier_import integer'],
  postgres: ['alter table etat add column dernier_import bigint'],
}
