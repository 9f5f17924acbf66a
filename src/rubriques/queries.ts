import { statement } from '../store/query.js'
import type { Db } from '../store/store.js'
import type { RubriqueRow } from './contract.js'

export function findRubriques(db: Db): Promise<RubriqueRow[]> {
  return db.all(selectRubriques, {})
}

const selectRubriques = statement()((q) => q.selectFrom('rubriques').selectAll().orderBy('id_rubrique'))
