import type { Migration } from './migration.js'

/** What a store that copies another portal remembers of it. */
export const mirror: Migration = {
  version: 5,
  nom: 'mirror',
  sqlite: [
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
  ],
  postgres: [
    `create table miroir (
      id bigint primary key check (id = 1),
      adresse text collate "C" not null,
      dialecte text collate "C",
      reglage text collate "C" not null,
      passe bigint not null,
      en_cours bigint not null,
      activite bigint not null
    )`,
    `create table miroir_ressources (
      chemin text collate "C" primary key,
      etag text collate "C",
      passe bigint not null,
      lecture text collate "C" not null,
      contenu text collate "C"
    )`,
    `create index miroir_ressources_passe on miroir_ressources (passe)`,
  ],
}
