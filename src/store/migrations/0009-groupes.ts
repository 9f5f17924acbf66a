import { migration } from './migration.js'

const FAN = 32
const FIRST = -Number.MAX_SAFE_INTEGER

/** The groups of authors, and a ranking of each. */
export const groupes = migration(9, 'groupes', [
  // Groups came with version 7, which no release has. Letters outside ASCII are folded by the next import.
  `alter table auteurs add column groupe_plie text not null default ''`,
  `update auteurs set groupe_plie = lower(groupe) where groupe <> ''`,
  {
    sqlite: 'create index auteurs_groupes on auteurs (groupe_cle, cle_classement, date_classement)',
    postgres: 'create index auteurs_groupes on auteurs (groupe_cle, cle_classement, date_classement, id_auteur)',
  },
  `create table groupes (
    groupe_cle text primary key,
    nom text not null,
    nom_plie text not null,
    nb_auteurs integer not null
  ) strict, without rowid`,
  'create index groupes_nom on groupes (nom_plie, groupe_cle)',
  `insert into groupes select a.groupe_cle, a.groupe, a.groupe_plie, g.nb from auteurs a
   join (select groupe_cle, min(id_auteur) as id, count(*) as nb from auteurs
     where groupe_cle <> '' and cle_classement is not null group by groupe_cle) as g on g.id = a.id_auteur`,
  fillLevel(
    0,
    `select 'groupes/' || groupe_cle as arbre, cle_classement as cle, date_classement as date, id_auteur as id, 1 as nb
     from auteurs where groupe_cle <> '' and cle_classement is not null`,
  ),
  ...[1, 2, 3].map((niveau) =>
    fillLevel(
      niveau,
      `select arbre, cle, date, id, nb from noeuds where arbre like 'groupes/%' and niveau = ${niveau - 1}`,
    ),
  ),
])

/** One level of the counted orders of groups, as this schema began with them. */
function fillLevel(niveau: number, entries: string): string {
  const start = ['cle', 'date'].map((column) => `case when rang = 0 then ${FIRST} else ${column} end`).join(', ')
  return `insert into noeuds (arbre, niveau, cle, date, id, nb)
    select arbre, ${niveau}, ${start}, case when rang = 0 then 0 else id end, total
    from (
      select arbre, cle, date, id, rang, sum(nb) over (partition by arbre, rang / ${FAN}) as total
      from (
        select arbre, cle, date, id, nb, row_number() over (partition by arbre order by cle, date, id) - 1 as rang
        from (${entries}) as entree
      ) as rangee
    ) as groupe
    where rang % ${FAN} = 0`
}
