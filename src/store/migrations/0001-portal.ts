import { migration } from './migration.js'
import { searchTable } from './search-table.js'

/** Everything the first release holds. PostgreSQL's search indexes hang on an extension: see `postgres/search.ts`. */
export const portal = migration(1, 'portal', [
  {
    postgres: `create table palmares_schema (
      version integer primary key,
      nom text not null,
      date timestamptz not null default now()
    )`,
  },
  `create table etat (
    id integer primary key check (id = 1),
    version_donnees integer not null,
    version_comptes integer not null,
    statuts_masques text not null
  ) strict`,
  // Tells a portal and its replicas from other databases.
  { postgres: `alter table etat add column identite text collate "C" not null default gen_random_uuid()` },
  `insert into etat (id, version_donnees, version_comptes, statuts_masques) values (1, 1, 1, '["5poubelle"]')`,
  `create table rubriques (
    id_rubrique integer primary key,
    nom text not null,
    nb_challenges integer not null default 0
  ) strict`,
  `create table auteurs (
    id_auteur integer primary key,
    nom text not null,
    nom_plie text not null,
    statut text not null,
    statut_cle text not null,
    lang text not null,
    lang_cle text not null,
    base integer not null default 0,
    score integer not null default 0,
    cle_classement integer,
    nb_validations integer not null default 0
  ) strict`,
  {
    sqlite: `create index auteurs_classement on auteurs (cle_classement)`,
    postgres: `create index auteurs_classement on auteurs (cle_classement, id_auteur)`,
  },
  `create index auteurs_statut on auteurs (statut_cle, id_auteur)`,
  `create index auteurs_lang on auteurs (lang_cle, id_auteur)`,
  `create table challenges (
    id_challenge integer primary key,
    id_rubrique integer not null references rubriques deferrable initially deferred,
    titre text not null,
    titre_plie text not null,
    soustitre text not null,
    soustitre_plie text not null,
    lang text not null,
    lang_cle text not null,
    score integer not null,
    difficulte text not null,
    id_trad integer,
    url_challenge text not null,
    date_publication integer,
    nb_validations integer not null default 0,
    descriptif text not null
  ) strict`,
  `create index challenges_rubrique on challenges (id_rubrique, id_challenge)`,
  `create index challenges_trad on challenges (id_trad, id_challenge)`,
  `create table challenges_auteurs (
    id_challenge integer not null references challenges deferrable initially deferred,
    id_auteur integer not null references auteurs deferrable initially deferred,
    primary key (id_challenge, id_auteur)
  ) strict, without rowid`,
  `create index challenges_auteurs_auteur on challenges_auteurs (id_auteur, id_challenge)`,
  `create table validations (
    id_auteur integer not null references auteurs deferrable initially deferred,
    id_challenge integer not null references challenges deferrable initially deferred,
    date integer not null,
    primary key (id_auteur, id_challenge)
  ) strict, without rowid`,
  // PostgreSQL keeps a check of each row in memory up to the commit, which took a quarter of the time of a large import. Every
  // writer of validations looks for dangling ones itself, under one lock, and `palmares check` does too.
  {
    postgres: `alter table validations drop constraint validations_id_auteur_fkey,
      drop constraint validations_id_challenge_fkey`,
  },
  `create index validations_challenge on validations (id_challenge, date, id_auteur)`,
  `create table environnements_virtuels (
    id_environnement_virtuel integer primary key,
    nom text not null,
    nom_plie text not null,
    os text not null,
    os_cle text not null,
    statut text not null,
    lang text not null,
    description_fr text not null,
    description_en text not null,
    time_to_root integer
  ) strict`,
  `create table comptes (
    id_compte integer primary key,
    login text not null unique,
    id_auteur integer not null references auteurs deferrable initially deferred,
    mot_de_passe text not null,
    operateur integer not null,
    desactive integer not null,
    creation integer not null
  ) strict`,
  { postgres: generatedId('comptes', 'id_compte') },
  `create index comptes_auteur on comptes (id_auteur)`,
  `create table sessions (
    empreinte text primary key,
    id_compte integer not null references comptes on delete cascade,
    creation integer not null,
    derniere_utilisation integer not null,
    revocation integer
  ) strict, without rowid`,
  `create index sessions_compte on sessions (id_compte)`,
  `create index sessions_creation on sessions (creation)`,
  `create table cles_api (
    id_cle integer primary key autoincrement,
    id_compte integer not null references comptes on delete cascade,
    nom text not null,
    prefixe text not null,
    empreinte text not null unique,
    portee text not null,
    creation integer not null,
    expiration integer not null,
    derniere_utilisation integer,
    revocation integer
  ) strict`,
  { postgres: generatedId('cles_api', 'id_cle') },
  `create index cles_api_compte on cles_api (id_compte, id_cle)`,
  `create table noeuds (
    arbre text not null,
    niveau integer not null,
    cle integer not null,
    id integer not null,
    nb integer not null,
    primary key (arbre, niveau, cle, id)
  ) strict, without rowid`,
  ...searchTable('auteurs', 'id_auteur', ['nom_plie']),
  ...searchTable('challenges', 'id_challenge', ['titre_plie', 'soustitre_plie']),
  ...searchTable('environnements_virtuels', 'id_environnement_virtuel', ['nom_plie']),
])

function generatedId(table: string, id: string): string {
  return `alter table ${table} alter column ${id} add generated by default as identity`
}
