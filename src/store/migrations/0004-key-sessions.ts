import type { Migration } from './migration.js'

/** Sessions that were made from an API key, and end with it. */
export const keySessions: Migration = {
  version: 4,
  nom: 'key-sessions',
  sqlite: [
    'alter table sessions add column id_cle integer references cles_api on delete cascade',
    'create index sessions_cle on sessions (id_cle) where id_cle is not null',
  ],
  postgres: [
    'alter table sessions add column id_cle bigint references cles_api on delete cascade',
    'create index sessions_cle on sessions (id_cle) where id_cle is not null',
  ],
}
