import type { Migration } from './migration.js'

/** Sessions that end with the key that they were made from. */
export const boundSessions: Migration = {
  version: 4,
  nom: 'sessions',
  sqlite: [
    `alter table sessions add column id_cle integer references cles_api on delete cascade`,
    `create index sessions_cle on sessions (id_cle) where id_cle is not null`,
  ],
  postgres: [
    `alter table sessions add column id_cle bigint references cles_api on delete cascade`,
    `create index sessions_cle on sessions (id_cle) where id_cle is not null`,
  ],
}
