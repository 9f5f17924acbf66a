import { migration } from './migration.js'

/** Validations that are stored but not shown. They name records without a reference, because they outlive them. */
export const gel = migration(10, 'gel', [
  `create table validations_gelees (
    id_auteur integer not null,
    id_challenge integer not null,
    date integer not null,
    primary key (id_auteur, id_challenge)
  ) strict, without rowid`,
  'create index validations_gelees_date on validations_gelees (date, id_auteur, id_challenge)',
])
