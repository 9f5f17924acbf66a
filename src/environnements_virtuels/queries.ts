import type { Page } from '../contract.js'
import { Problem } from '../errors.js'
import { environnementsVirtuels } from '../model/kinds.js'
import { DEFAULT_PAGE_ROWS } from '../parameters.js'
import { listIds, padded } from '../store/list.js'
import { statement } from '../store/query.js'
import type { Db } from '../store/store.js'
import type { EnvironnementItemRow, EnvironnementRow } from './contract.js'

export interface EnvironnementFilters {
  /** Folded. */
  nom?: string | undefined
  /** Lower case. */
  os?: string | undefined
}

export async function findEnvironnements(
  db: Db,
  filters: EnvironnementFilters,
  debut = 0,
  limite = DEFAULT_PAGE_ROWS,
): Promise<Page<EnvironnementItemRow>> {
  const { ids, ...counts } = await listIds(db, environnementsVirtuels, {
    contains: { nom_plie: filters.nom },
    equals: { os_cle: filters.os },
    debut,
    limite,
  })
  const query = db.q
    .selectFrom('environnements_virtuels')
    .select(['id_environnement_virtuel', 'nom', 'os'])
    .where('id_environnement_virtuel', 'in', padded(ids))
    .orderBy('id_environnement_virtuel')
  return { rows: ids.length === 0 ? [] : await db.all(query), debut, limite, ...counts }
}

/** Throws `resource_not_found`. */
export async function findEnvironnement(db: Db, id: number): Promise<EnvironnementRow> {
  const row = await db.get(selectEnvironnement, { id })
  if (!row) throw new Problem('resource_not_found', { detail: 'The portal has no virtual environment with this id.' })
  return row
}

const selectEnvironnement = statement<{ id: number }>()((q, p) =>
  q.selectFrom('environnements_virtuels').selectAll().where('id_environnement_virtuel', '=', p.id),
)
