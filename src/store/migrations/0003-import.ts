import { migration } from './migration.js'

/** When the last import changed something. */
export const lastImport = migration(3, 'import', ['alter table etat add column dernier_import integer'])
