import type { ServeAction } from '../contract.js'
import { Problem } from '../errors.js'
import type { Store } from '../store/store.js'
import { listGelees, presentGelee } from './contract.js'
import { findGelees } from './queries.js'

/** What is frozen, for an operator's session. */
export function geleesRoutes(serve: ServeAction, { store }: { store: Store }): void {
  serve(listGelees, async ({ principal, parameters: { debut_gelees, limite } }) => {
    if (!principal?.operateur) throw new Problem('operator_required')
    const page = await store.read((db) => findGelees(db, debut_gelees, limite))
    return { body: page.rows.map(presentGelee), page }
  })
}
