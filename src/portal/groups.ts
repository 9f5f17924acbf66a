import type { Db } from '../store/store.js'
import { tuple } from './lot.js'

/** The groups of ranked authors. */
const GROUPS = `select a.groupe_cle, a.groupe as nom, a.groupe_plie as nom_plie, g.nb as nb_auteurs from auteurs a
  join (select groupe_cle, min(id_auteur) as id, count(*) as nb from auteurs
    where groupe_cle <> '' and cle_classement is not null group by groupe_cle) as g on g.id = a.id_auteur`
const COLUMNS = ['groupe_cle', 'nom', 'nom_plie', 'nb_auteurs']
const LIST = COLUMNS.join(', ')

export async function deriveGroups(db: Db): Promise<void> {
  await db.exec('drop table if exists lot_groupes')
  await db.exec(`create temporary table lot_groupes as ${GROUPS}`)
  await db.exec('create unique index lot_groupes_cle on lot_groupes (groupe_cle)')
  const isSame = `${tuple(COLUMNS, 'l')} = ${tuple(COLUMNS, 'g')}`
  await db.exec(`delete from groupes as g where not exists (select 1 from lot_groupes l where ${isSame})`)
  await db.exec(`insert into groupes (${LIST}) select ${LIST} from lot_groupes where true on conflict do nothing`)
  await db.exec('drop table lot_groupes')
}

/** The groups whose row is not what `deriveRankings` would make it, some of them. */
export async function findWrongGroups(db: Db, limit: number): Promise<string[]> {
  const stored = `select ${LIST} from groupes`
  const rows = await db.select<{ groupe_cle: string }>(
    `select distinct groupe_cle from (
       select * from (select * from (${GROUPS}) as expected except ${stored}) as missing
       union all select * from (${stored} except select * from (${GROUPS}) as expected) as extra
     ) as wrong order by groupe_cle limit ${limit}`,
  )
  return rows.map(({ groupe_cle }) => groupe_cle)
}
