import type { Migration } from './migration.js'

/** The group of an author: a division, team, school or country. */
export const groupe: Migration = {
  version: 7,
  nom: 'groupe',
  sqlite: addColumns('text'),
  postgres: addColumns('text collate "C"'),
}

function addColumns(type: string): string[] {
  return [
    `alter table auteurs add column groupe ${type} not null default ''`,
    `alter table auteurs add column groupe_cle ${type} not null default ''`,
    'create index auteurs_groupe on auteurs (groupe_cle, id_auteur)',
  ]
}
