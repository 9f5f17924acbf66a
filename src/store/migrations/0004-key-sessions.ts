import { migration } from './migration.js'

/** Sessions that were made from an API key, and end with it. */
export const keySessions = migration(4, 'key-sessions', [
  'alter table sessions add column id_cle integer references cles_api on delete cascade',
  'create index sessions_cle on sessions (id_cle) where id_cle is not null',
])
