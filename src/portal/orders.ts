import { CLASSEMENT } from '../classement/rank.js'
import type { SliceOf } from '../store/counted-moves.js'

/** One counted order, or many of one kind that differ by a number at the end of their names. */
interface Order {
  /** The names that it goes by. */
  pattern: string
  table: string
  /** Its name, in SQL, where the number is a column's. */
  arbre: string
  cle: string
  id: string
  /** The column that the number is of. */
  number?: string
  condition?: string
}

const orders: readonly Order[] = [
  {
    pattern: CLASSEMENT,
    table: 'auteurs',
    arbre: `'${CLASSEMENT}'`,
    cle: 'cle_classement',
    id: 'id_auteur',
    condition: 'cle_classement is not null',
  },
  listOrder('auteurs', 'id_auteur'),
  listOrder('challenges', 'id_challenge'),
  listOrder('environnements_virtuels', 'id_environnement_virtuel'),
  {
    pattern: 'validations/%',
    table: 'validations',
    arbre: `'validations/' || id_challenge`,
    cle: 'date',
    id: 'id_auteur',
    number: 'id_challenge',
  },
  {
    pattern: 'classements/%',
    table: 'classements',
    arbre: `'classements/' || classement`,
    cle: 'cle',
    id: 'id_auteur',
    number: 'classement',
  },
]

/** The whole list of a table, by id. */
function listOrder(table: string, id: string): Order {
  return { pattern: table, table, arbre: `'${table}'`, cle: '0', id }
}

/** Every counted order: the names it goes by, and its entries. */
export const ORDERS: readonly { pattern: string; entries: string }[] = orders.map(
  ({ pattern, table, arbre, cle, id, condition = 'true' }) => ({
    pattern,
    entries: `select ${arbre} as arbre, ${cle} as cle, ${id} as id from ${table} where ${condition}`,
  }),
)

/** So many entries of one order from a key on: an end by key would be sought through all that ties with it. */
export const sliceOf: SliceOf = (arbre, from, rows) => {
  const [kind = '', number] = arbre.split('/')
  const order = orders.find(
    ({ pattern }) => pattern.split('/')[0] === kind && pattern.includes('/') === arbre.includes('/'),
  )
  if (!order) throw new Error(`there is no order ${arbre}`)
  const { table, cle, id } = order
  // A list has one key for all, and no index that begins with it.
  if (cle === '0') {
    const sql = `select 0 as cle, ${id} as id from ${table} where ${id} >= ? order by ${id} limit ?`
    return { sql, values: [from.id, rows] }
  }
  const condition = order.number ? `${order.number} = ? and` : ''
  return {
    sql: `select ${cle} as cle, ${id} as id from ${table} where ${condition} (${cle}, ${id}) >= (?, ?)
      order by ${cle}, ${id} limit ?`,
    values: [...(order.number ? [Number(number)] : []), from.cle, from.id, rows],
  }
}
