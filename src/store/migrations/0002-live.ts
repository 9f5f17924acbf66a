import { migration } from './migration.js'

const FAN = 32
const FIRST_CLE = -Number.MAX_SAFE_INTEGER

/** The same on both engines: on PostgreSQL it takes 4 bytes of each row. */
const ADD_MONTH = 'alter table validations add column mois integer'

/** The journal, and the rankings by category and by period. */
export const live = migration(2, 'live', [
  `alter table etat add column journal_lignes integer not null default 0`,
  { sqlite: ADD_MONTH, postgres: ADD_MONTH },
  {
    sqlite: `update validations set mois = cast(strftime('%Y%m', date, 'unixepoch') as integer) where date < 253402300800`,
    // PostgreSQL calls the year 0 the first before Christ, and counts it as -1.
    postgres: `update validations set mois = greatest(0, extract(year from to_timestamp(date) at time zone 'UTC')) * 100
      + extract(month from to_timestamp(date) at time zone 'UTC') where date < 253402300800`,
  },
  `create table classements (
    classement integer not null,
    cle integer not null,
    id_auteur integer not null,
    primary key (classement, cle, id_auteur)
  ) strict, without rowid`,
  `create table journal (
    curseur integer primary key,
    date integer not null,
    type text not null,
    supprime integer not null,
    id_auteur integer,
    id_challenge integer,
    id_rubrique integer,
    rangs text
  ) strict`,
  ...['-id_rubrique', 'mois / 100 * 100', 'mois'].map(
    (classement) => `insert into classements (classement, cle, id_auteur)
      select ${classement}, -sum(c.score), v.id_auteur from validations v
      join challenges c on c.id_challenge = v.id_challenge join auteurs a on a.id_auteur = v.id_auteur
      where a.cle_classement is not null and ${classement} is not null group by 1, 3`,
  ),
  fillLevel(0, `select 'classements/' || classement as arbre, cle, id_auteur as id, 1 as nb from classements`),
  ...[1, 2, 3].map((niveau) =>
    fillLevel(
      niveau,
      `select arbre, cle, id, nb from noeuds where arbre like 'classements/%' and niveau = ${niveau - 1}`,
    ),
  ),
])

/** One level of the counted orders of `classements`, as this schema began with them. */
function fillLevel(niveau: number, entries: string): string {
  return `insert into noeuds (arbre, niveau, cle, id, nb)
    select arbre, ${niveau}, case when rang = 0 then ${FIRST_CLE} else cle end, case when rang = 0 then 0 else id end, total
    from (
      select arbre, cle, id, rang, sum(nb) over (partition by arbre, rang / ${FAN}) as total
      from (
        select arbre, cle, id, nb, row_number() over (partition by arbre order by cle, id) - 1 as rang
        from (${entries}) as entree
      ) as rangee
    ) as groupe
    where rang % ${FAN} = 0`
}
