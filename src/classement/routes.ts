import { listAnswer, type ServeRead } from '../contract.js'
import { invalidParameter } from '../errors.js'
import { listClassement, presentRanked } from './contract.js'
import { findClassement, findRowAround } from './queries.js'

export function classementRoutes(serve: ServeRead): void {
  serve(listClassement, async ({ db }, { debut_classement, limite, autour_de }) => {
    if (autour_de !== undefined && debut_classement !== undefined) {
      throw invalidParameter('autour_de', 'cannot be given together with debut_classement')
    }
    const debut = autour_de === undefined ? (debut_classement ?? 0) : await findRowAround(db, autour_de, limite)
    return listAnswer(await findClassement(db, debut, limite), presentRanked)
  })
}
