import type { FastifyInstance } from 'fastify'
import { findAuteur, findAuteurs } from '../auteurs/queries.js'
import { findChallenge, findChallengeTitles, findLatestValidations } from '../challenges/queries.js'
import { findRanked } from '../classement/rank.js'
import { findEnvironnement, findEnvironnements } from '../environnements_virtuels/queries.js'
import { refuseUnknownPath } from '../http/methods.js'
import { errorSender } from '../http/problems.js'
import type { ServeDeps } from '../http/serve.js'
import { contains, equals, ids, integer } from '../parameters.js'
import { classement } from '../store/orders.js'
import { KEY_COOKIES, ROOTME_COOKIES } from './credentials.js'
import { clamp, errorShape, VALIDATIONS_ROWS } from './envelope.js'
import { loginRoute, type RootmeLogin } from './login.js'
import {
  presentAuteur,
  presentAuteurItem,
  presentChallenge,
  presentChallengeItem,
  presentEnvironnement,
  presentEnvironnementItem,
  presentRanked,
} from './present.js'
import { leading } from './query.js'
import { serveDialect } from './serve.js'

/** The filters that lists of the dialect take, by the contract's rules of what matches. */
export const filters = {
  challenges: {
    titre: contains('title'),
    soustitre: contains('subtitle'),
    lang: equals('language'),
    score: leading(integer('The score.')),
    'id_auteur[]': leading(ids('Challenges written by any of these authors.')),
    id_rubrique: leading(integer('The category.')),
  },
  auteurs: { nom: contains('name'), statut: equals('status'), lang: equals('language') },
  classement: {},
  environnements_virtuels: { nom: contains('name'), os: equals('operating system') },
}

/**
 * The dialect that existing clients speak, in a scope with its prefix: the nouns' queries behind the contract's guard and
 * limits, in another envelope. docs/CLIENTS.md describes it.
 */
export function rootmeRoutes(app: FastifyInstance, deps: ServeDeps, auth: Omit<RootmeLogin, 'origins'>): void {
  const { admission, origins } = deps
  app.setErrorHandler(errorSender(errorShape))

  app.register(async (open) => {
    open.addHook('onRequest', admission.by(KEY_COOKIES).optional)
    loginRoute(open, { ...auth, origins })
  })

  app.register(async (guarded) => {
    guarded.addHook('onRequest', admission.by(ROOTME_COOKIES).required)
    guarded.addHook('onRequest', refuseUnknownPath)
    guarded.setNotFoundHandler(() => undefined)
    readRoutes(guarded, deps)
  })
}

function readRoutes(app: FastifyInstance, deps: ServeDeps): void {
  const { list, detail } = serveDialect(app, deps)

  list('challenges', {
    filters: filters.challenges,
    find: (db, { 'id_auteur[]': auteurs, ...rest }, debut, limite) =>
      findChallengeTitles(db, { ...rest, auteurs }, debut, limite),
    present: presentChallengeItem,
  })

  detail('challenges', {
    debutName: 'debut_validations',
    async read({ db, challengeUrl }, id, debut) {
      const challenge = await findChallenge(db, id)
      const { rows, ...page } = await clamp((row) => findLatestValidations(db, id, row, VALIDATIONS_ROWS), debut)
      return { payload: presentChallenge(challenge, rows, challengeUrl), page }
    },
  })

  list('auteurs', {
    filters: filters.auteurs,
    find: findAuteurs,
    present: presentAuteurItem,
  })

  detail('auteurs', {
    async read({ db, challengeUrl }, id) {
      return { payload: presentAuteur(await findAuteur(db, id), challengeUrl), isBare: true }
    },
  })

  list('classement', {
    filters: filters.classement,
    find: (db, _, debut, limite) => findRanked(db, classement, debut, limite),
    present: presentRanked,
  })

  list('environnements_virtuels', {
    filters: filters.environnements_virtuels,
    find: findEnvironnements,
    present: presentEnvironnementItem,
  })

  detail('environnements_virtuels', {
    async read({ db }, id) {
      return { payload: presentEnvironnement(await findEnvironnement(db, id)) }
    },
  })
}
