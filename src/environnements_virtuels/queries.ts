import type { Page } from '../contract.js'
import { found } from '../errors.js'
import { environnementsVirtuels } from '../model/kinds.js'
import { DEFAULT_PAGE_ROWS } from '../parameters.js'
import { findPage } from '../store/list.js'
import { statement } from '../store/query.js'
import type { Db } from '../store/store.js'
import type { EnvironnementItemRow, EnvironnementRow } from './contract.js'

export interface EnvironnementFilters {
  /** Folded. */
  nom?: string | undefined
  /** Lower case. */
  os?: string | undefined
}

export function findEnvironnements(
  db: Db,
  { nom, os }: EnvironnementFilters,
  debut = 0,
  limite = DEFAULT_PAGE_ROWS,
): Promise<Page<EnvironnementItemRow>> {
  const items = db.q.selectFrom('environnements_virtuels').select(['id_environnement_virtuel', 'nom', 'os'])
  const list = { contains: { nom_plie: nom }, equals: { os_cle: os }, debut, limite }
  return findPage(db, environnementsVirtuels, list, items)
}

/** Throws `resource_not_found`. */
export async function findEnvironnement(db: Db, id: number): Promise<EnvironnementRow> {
  return found(await db.get(selectEnvironnement, { id }), 'virtual environment')
}

const selectEnvironnement = statement<{ id: number }>()((q, p) =>
  q.selectFrom('environnements_virtuels').selectAll().where('id_environnement_virtuel', '=', p.id),
)
