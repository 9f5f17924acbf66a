import { type Address, periodeOf, rubriqueOf } from '../../address.js'

/** The query parameters that restrict a ranking: a category, a year or month, a group, or none. */
export function partOf(query: Address['query']): { id_rubrique?: string; periode?: string; groupe?: string } {
  const [id_rubrique, periode, { groupe }] = [rubriqueOf(query), periodeOf(query), query]
  if (id_rubrique) return { id_rubrique }
  return periode ? { periode } : groupe ? { groupe } : {}
}
