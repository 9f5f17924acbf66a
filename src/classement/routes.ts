import { listAnswer, type ServeRead } from '../contract.js'
import { invalidParameter } from '../errors.js'
import { readSetting } from '../store/settings.js'
import {
  getHistogramme,
  getRegles,
  listClassement,
  listPeriodes,
  type Periode,
  presentPeriode,
  presentRanked,
  presentRegles,
} from './contract.js'
import { findHistogramme } from './histogramme.js'
import { findPeriodes } from './periodes.js'
import { findDebutAround, type Part, rankingOf } from './queries.js'
import { findRanked } from './rank.js'

export function classementRoutes(serve: ServeRead): void {
  serve(listClassement, async ({ db }, { debut_classement, limite, autour_de, id_rubrique, periode }) => {
    if (autour_de !== undefined && debut_classement !== undefined) {
      throw invalidParameter('autour_de', 'cannot be given together with debut_classement')
    }
    const part = partOf(id_rubrique, periode)
    const ranking = await rankingOf(db, part)
    const debut =
      autour_de === undefined ? debut_classement : await findDebutAround(db, part, ranking, autour_de, limite)
    const page = await findRanked(db, ranking, debut, limite)
    return listAnswer(page, presentRanked)
  })

  serve(getHistogramme, async ({ db }, { id_rubrique, periode }) => {
    const part = partOf(id_rubrique, periode)
    const ranking = await rankingOf(db, part)
    return { body: await findHistogramme(db, ranking) }
  })

  serve(getRegles, async ({ db }) => ({ body: presentRegles({ departage: await readSetting(db, 'departage') }) }))

  serve(listPeriodes, async ({ db }) => ({ body: (await findPeriodes(db)).map(presentPeriode) }))
}

function partOf(id_rubrique: number | undefined, periode: Periode | undefined): Part | undefined {
  if (id_rubrique !== undefined && periode) {
    throw invalidParameter('periode', 'cannot be given together with id_rubrique')
  }
  return id_rubrique !== undefined ? { id_rubrique } : periode && { periode }
}
