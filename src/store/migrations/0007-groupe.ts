import { migration } from './migration.js'

/** The group of an author: a division, team, school or country. */
export const groupe = migration(7, 'groupe', [
  `alter table auteurs add column groupe text not null default ''`,
  `alter table auteurs add column groupe_cle text not null default ''`,
  'create index auteurs_groupe on auteurs (groupe_cle, id_auteur)',
])
