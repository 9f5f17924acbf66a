import { migration } from './migration.js'

const FIRST = -Number.MAX_SAFE_INTEGER
/** The first node of a level starts before every entry. */
const FIRST_DATE = `case when cle = ${FIRST} and id = 0 then ${FIRST} else 0 end`

/** Settings in a table of their own; one more column of the key of rankings, by which dates break ties. */
export const contest = migration(8, 'contest', [
  'create table reglages (nom text primary key, valeur text not null) strict, without rowid',
  `insert into reglages select 'statuts_masques', statuts_masques from etat where statuts_masques <> '["5poubelle"]'`,
  'alter table etat drop column statuts_masques',
  'alter table auteurs add column date_score integer',
  'alter table auteurs add column date_classement integer not null default 0',
  {
    // An import gives indexes names of its own.
    sqlite: {
      each: `select 'drop index "' || name || '"' as sql from sqlite_master
        where type = 'index' and tbl_name = 'auteurs' and sql like '%(cle_classement)'`,
    },
    postgres: 'drop index auteurs_classement',
  },
  {
    sqlite: 'create index auteurs_classement on auteurs (cle_classement, date_classement)',
    postgres: 'create index auteurs_classement on auteurs (cle_classement, date_classement, id_auteur)',
  },
  'alter table classements rename to classements_7',
  `create table classements (
    classement integer not null,
    cle integer not null,
    date integer not null,
    id_auteur integer not null,
    primary key (classement, cle, date, id_auteur)
  ) strict, without rowid`,
  'insert into classements select classement, cle, 0, id_auteur from classements_7',
  'drop table classements_7',
  'alter table noeuds rename to noeuds_7',
  `create table noeuds (
    arbre text not null,
    niveau integer not null,
    cle integer not null,
    date integer not null,
    id integer not null,
    nb integer not null,
    primary key (arbre, niveau, cle, date, id)
  ) strict, without rowid`,
  `insert into noeuds select arbre, niveau, cle, ${FIRST_DATE}, id, nb from noeuds_7`,
  'drop table noeuds_7',
])
