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
      return listAnswer(page, (row) => presentItem(row, challengeUrl))
    },
  )

  serve(getChallenge, async ({ db, challengeUrl }, { id_challenge }) => {
    return { body: presentChallenge(await findChallenge(db, id_challenge), challengeUrl) }
  })

  serve(listValidations, async ({ db }, { id_challenge, debut_validations, limite }) => {
    return listAnswer(await findValidations(db, id_challenge, debut_validations, limite), presentValidation)
  })

  serve(getProgression, async ({ db }, { id_challenge }) => {
    return { body: presentProgression(await findProgression(db, id_challenge)) }
  })
}
