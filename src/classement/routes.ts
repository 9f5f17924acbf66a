import { listAnswer, type ServeRead } from '../contract.js'
import { invalidParameter } from '../errors.js'
import { readSettings } from '../store/settings.js'
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
import { findDebutAround, findPageAmong, type Part, rankingOf } from './queries.js'
import { findRanked } from './rank.js'

export function classementRoutes(serve: ServeRead): void {
  serve(listClassement, async ({ db }, { debut_classement: debut, limite, autour_de, ...restrictions }) => {
    if (autour_de !== undefined && debut !== undefined) {
      throw invalidParameter('autour_de', 'cannot be given together with debut_classement')
    }
    const part = partOf(restrictions)
    const { 'id_auteur[]': auteurs } = restrictions
    if (auteurs) return listAnswer(await findPageAmong(db, auteurs, { debut, autour_de, limite }), presentRanked)
    const ranking = await rankingOf(db, part)
    const first = autour_de === undefined ? debut : await findDebutAround(db, part, ranking, autour_de, limite)
    return listAnswer(await findRanked(db, ranking, first, limite), presentRanked)
  })

  serve(getHistogramme, async ({ db }, restrictions) => {
    const ranking = await rankingOf(db, partOf(restrictions))
    return { body: await findHistogramme(db, ranking) }
  })

  serve(listPeriodes, async ({ db }) => ({ body: (await findPeriodes(db)).map(presentPeriode) }))

  serve(getRegles, async ({ db }) => {
    const { departage, gel } = await readSettings(db)
    return { body: presentRegles({ departage: departage.value, gel: gel.value }) }
  })
}

interface Restrictions {
  id_rubrique?: number | undefined
  periode?: Periode | undefined
  groupe?: string | undefined
  'id_auteur[]'?: number[] | undefined
}

/** The part of the ranking that is asked for, if any. Throws a 400 that names two parameters which exclude each other. */
function partOf({ id_rubrique, periode, groupe, 'id_auteur[]': auteurs }: Restrictions): Part | undefined {
  const given = Object.entries({ id_rubrique, periode, groupe, 'id_auteur[]': auteurs })
  const [first, second] = given.flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (second !== undefined) throw invalidParameter(second, `cannot be given together with ${first}`)
  if (id_rubrique !== undefined) return { id_rubrique }
  return groupe === undefined ? periode && { periode } : { groupe }
}
