import { migration } from './migration.js'

/**
 * Which credentials ended, so that a process drops these alone from its cache; which addresses an account signs in from; and
 * indexes for what is live and for what can be deleted.
 */
export const accounts = migration(6, 'accounts', [
  `create table acces_finis (
    version integer not null,
    precedente integer not null,
    empreinte text not null,
    primary key (version, empreinte)
  ) strict, without rowid`,
  `create table adresses_connues (
    id_compte integer not null references comptes on delete cascade,
    adresse text not null,
    vue integer not null,
    primary key (id_compte, adresse)
  ) strict, without rowid`,
  'create index adresses_connues_vue on adresses_connues (vue)',
  'create index sessions_vivantes on sessions (id_compte, id_cle, creation) where revocation is null',
  'create index sessions_revocation on sessions (revocation) where revocation is not null',
  'create index cles_api_vivantes on cles_api (id_compte, expiration) where revocation is null',
  'create index cles_api_expiration on cles_api (expiration)',
  'create index cles_api_revocation on cles_api (revocation) where revocation is not null',
])
