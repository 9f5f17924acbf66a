import { type Address, periodeOf, rubriqueOf } from '../../address.js'

/** What a ranking is restricted to, as the API asks for it: a category, or a year or month, or nothing. */
export function partOf(query: Address['query']): { id_rubrique?: string; periode?: string } {
  const [id_rubrique, periode] = [rubriqueOf(query), periodeOf(query)]
  return id_rubrique ? { id_rubrique } : periode ? { periode } : {}
}
