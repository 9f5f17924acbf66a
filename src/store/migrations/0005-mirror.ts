import { migration } from './migration.js'

/** What a store that copies another portal remembers of it. */
export const mirror = migration(5, 'mirror', [
  `create table miroir (
    id integer primary key check (id = 1),
    adresse text not null,
    dialecte text,
    reglage text not null,
    passe integer not null,
    en_cours integer not null,
    activite integer not null
  ) strict`,
  `create table miroir_ressources (
    chemin text primary key,
    etag text,
    passe integer not null,
    lecture text not null,
    contenu text
  ) strict, without rowid`,
  `create index miroir_ressources_passe on miroir_ressources (passe)`,
])
