import { listAnswer, type ServeRead } from '../contract.js'
import {
  getChallenge,
  getProgression,
  listChallenges,
  listValidations,
  presentChallenge,
  presentItem,
  presentProgression,
  presentValidation,
} from './contract.js'
import { findProgression } from './progression.js'
import { findChallenge, findChallenges, findValidations } from './queries.js'

export function challengesRoutes(serve: ServeRead): void {
  serve(
    listChallenges,
    async ({ db, challengeUrl }, { debut_challenges, limite, 'id_auteur[]': auteurs, ...filters }) => {
      const page = await findChallenges(db, { ...filters, auteurs }, debut_challenges, limite)
      return listAnswer(page, (row) => presentItem(row, challengeUrl), { names: ['challenges', 'validations'] })
    },
  )

  serve(getChallenge, async ({ db, challengeUrl }, { id_challenge }) => {
    const challenge = await findChallenge(db, id_challenge)
    const { auteurs, premiere } = challenge
    const depends = {
      names: ['challenges', `challenge/${id_challenge}`],
      noms: [...auteurs, ...(premiere ? [premiere] : [])].map(({ id_auteur }) => id_auteur),
    }
    return { body: presentChallenge(challenge, challengeUrl), depends }
  })

  serve(listValidations, async ({ db }, { id_challenge, debut_validations, limite }) => {
    const page = await findValidations(db, id_challenge, debut_validations, limite)
    const noms = page.rows.map(({ id_auteur }) => id_auteur)
    return listAnswer(page, presentValidation, { names: ['challenges', `challenge/${id_challenge}`], noms })
  })

  serve(getProgression, async ({ db }, { id_challenge }) => {
    const progression = await findProgression(db, id_challenge)
    return { body: presentProgression(progression), depends: { names: ['challenges', `challenge/${id_challenge}`] } }
  })
}
