import { listAnswer, type ServeRead } from '../contract.js'
import { listGroupes, presentGroupe } from './contract.js'
import { findGroupes } from './queries.js'

export function groupesRoutes(serve: ServeRead): void {
  serve(listGroupes, async ({ db }, { debut_groupes, limite }) => {
    return listAnswer(await findGroupes(db, debut_groupes, limite), presentGroupe)
  })
}
