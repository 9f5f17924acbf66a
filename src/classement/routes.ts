import { listAnswer, type ServeRead } from '../contract.js'
import { invalidParameter } from '../errors.js'
import { listClassement, type Periode, presentRanked } from './contract.js'
import { findPart, findPartAround, type Part } from './partial.js'
import { findClassement, findRowAround } from './queries.js'

export function classementRoutes(serve: ServeRead): void {
  serve(listClassement, async ({ db }, { debut_classement, limite, autour_de, id_rubrique, periode }) => {
    if (autour_de !== undefined && debut_classement !== undefined) {
      throw invalidParameter('autour_de', 'cannot be given together with debut_classement')
    }
    const part = partOf(id_rubrique, periode)
    const around = (auteur: number) =>
      part ? findPartAround(db, part, auteur, limite) : findRowAround(db, auteur, limite)
    const debut = autour_de === undefined ? (debut_classement ?? 0) : await around(autour_de)
    const page = part ? await findPart(db, part, debut, limite) : await findClassement(db, debut, limite)
    return listAnswer(page, presentRanked)
  })
}

function partOf(id_rubrique: number | undefined, periode: Periode | undefined): Part | undefined {
  if (id_rubrique !== undefined && periode) {
    throw invalidParameter('periode', 'cannot be given together with id_rubrique')
  }
  return id_rubrique !== undefined ? { id_rubrique } : periode && { periode }
}
