import { type Address, periodeOf, rubriqueOf } from '../../address.js'

/** The query parameters that restrict a ranking: a category, a year or month, or none. */
export function partOf(query: Address['query']): { id_rubrique?: string; periode?: string } {
  const [id_rubrique, periode] = [rubriqueOf(query), periodeOf(query)]
  return id_rubrique ? { id_rubrique } : periode ? { periode } : {}
}
