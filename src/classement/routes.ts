import { listAnswer, type ServeRead } from '../contract.js'
import { invalidParameter } from '../errors.js'
import {
  getHistogramme,
  listClassement,
  listPeriodes,
  type Periode,
  presentHistogramme,
  presentPeriode,
  presentRanked,
} from './contract.js'
import { findHistogramme } from './histogramme.js'
import { findPart, findPartAround, type Part, rankingOfPart } from './partial.js'
import { findPeriodes } from './periodes.js'
import { findClassement, findRowAround, whole } from './queries.js'

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

  serve(getHistogramme, async ({ db }, { id_rubrique, periode }) => {
    const part = partOf(id_rubrique, periode)
    const ranking = part ? await rankingOfPart(db, part) : whole
    return { body: presentHistogramme(await findHistogramme(db, ranking)) }
  })

  serve(listPeriodes, async ({ db }) => ({ body: (await findPeriodes(db)).map(presentPeriode) }))
}

function partOf(id_rubrique: number | undefined, periode: Periode | undefined): Part | undefined {
  if (id_rubrique !== undefined && periode) {
    throw invalidParameter('periode', 'cannot be given together with id_rubrique')
  }
  return id_rubrique !== undefined ? { id_rubrique } : periode && { periode }
}
