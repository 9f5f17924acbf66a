import type { ServeRead } from '../contract.js'
import { listRubriques, presentRubrique } from './contract.js'
import { findRubriques } from './queries.js'

export function rubriquesRoutes(serve: ServeRead): void {
  serve(listRubriques, async ({ db }) => {
    return { body: (await findRubriques(db)).map(presentRubrique) }
  })
}
