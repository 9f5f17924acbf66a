import type { ServeRead } from '../contract.js'
import {
  getAuteur,
  getProgression,
  listAuteurs,
  presentAuteur,
  presentAuteurs,
  presentProgression,
} from './contract.js'
import { findProgression } from './progression.js'
import { findAuteur, findAuteurs } from './queries.js'

export function auteursRoutes(serve: ServeRead): void {
  serve(listAuteurs, async ({ db }, { debut_auteurs, limite, 'id_auteur[]': auteurs, ...filters }) => {
    const page = await findAuteurs(db, { ...filters, auteurs }, debut_auteurs, limite)
    return { body: presentAuteurs(page.rows), page }
  })

  serve(getAuteur, async ({ db, challengeUrl }, { id_auteur }) => {
    return { body: presentAuteur(await findAuteur(db, id_auteur), challengeUrl) }
  })

  serve(getProgression, async ({ db }, { id_auteur }) => {
    return { body: presentProgression(await findProgression(db, id_auteur)) }
  })
}
