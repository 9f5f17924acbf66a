import { listAnswer, type ServeRead } from '../contract.js'
import { getEnvironnement, listEnvironnements, presentEnvironnement, presentEnvironnementItem } from './contract.js'
import { findEnvironnement, findEnvironnements } from './queries.js'

export function environnementsVirtuelsRoutes(serve: ServeRead): void {
  serve(listEnvironnements, async ({ db }, { debut_environnements_virtuels, limite, ...filters }) => {
    return listAnswer(
      await findEnvironnements(db, filters, debut_environnements_virtuels, limite),
      presentEnvironnementItem,
    )
  })

  serve(getEnvironnement, async ({ db }, { id_environnement_virtuel }) => {
    return { body: presentEnvironnement(await findEnvironnement(db, id_environnement_virtuel)) }
  })
}
