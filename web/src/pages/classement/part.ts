import type { Address } from '../../address.js'

/** What a ranking is restricted to, as the API asks for it: a category, or a year or month, or nothing. */
export function partOf({ rubrique, periode }: Address['query']) {
  return rubrique ? { id_rubrique: rubrique } : { periode: periode || undefined }
}
