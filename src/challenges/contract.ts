import Type, { type Static } from 'typebox'
import { Count, endpoint, IdText, Instant, isAny, OrNull, presentInstant, Score, Text } from '../contract.js'
import { formatInstant } from '../instant.js'
import type { Row } from '../model/kind.js'
import type { challenges } from '../model/kinds.js'
import { contains, equals, Id, id, ids, integer, offset, pageSize } from '../parameters.js'

const tag = { name: 'challenges', description: 'Challenges and who solved them.' }

const ChallengeUrl = Type.String({
  format: 'uri',
  description: "Absolute address of the challenge's page on the portal.",
})
const DatePublication = OrNull(Instant)
const NamedAuteur = Type.Object({ id_auteur: IdText, nom: Text("The author's name.") })

const ChallengeItem = Type.Object({
  id_challenge: Id,
  titre: Text('Title.'),
  soustitre: Text('Subtitle.'),
  lang: Text('Language.'),
  score: Score,
  id_rubrique: Id,
  rubrique: Text("The category's name."),
  difficulte: Text('Difficulty.'),
  id_trad: OrNull(Id),
  url_challenge: ChallengeUrl,
  date_publication: DatePublication,
  nb_validations: Count,
})

const Challenge = Type.Object({
  titre: Text('Title.'),
  descriptif: Text('Description, an HTML fragment of the portal.'),
  score: Score,
  id_rubrique: Id,
  id_challenge: Id,
  soustitre: Text('Subtitle.'),
  rubrique: Text("The category's name."),
  lang: Text('Language.'),
  difficulte: Text('Difficulty.'),
  id_trad: OrNull(Id),
  traductions: Type.Array(Type.Object({ id_challenge: Id, lang: Text('Language.') }), {
    description: 'The challenge in each of its languages, itself included.',
  }),
  url_challenge: ChallengeUrl,
  date_publication: DatePublication,
  auteurs: Type.Array(NamedAuteur, { description: 'Who wrote it.' }),
  nb_validations: Count,
  premiere_validation: OrNull(Type.Object({ ...NamedAuteur.properties, date: OrNull(Instant) })),
})

const Validation = Type.Object({ ...NamedAuteur.properties, date: OrNull(Instant) })

const idChallenge = { id_challenge: id('The challenge.') }

export const listChallenges = endpoint({
  path: '/challenges',
  tag,
  summary: 'Search challenges',
  description: 'By id, ascending. Filters combine with AND.',
  query: {
    titre: contains('title'),
    soustitre: contains('subtitle'),
    lang: equals('language'),
    score: integer('The score.'),
    id_rubrique: integer('The category.'),
    'id_auteur[]': ids('Challenges written by any of these authors.'),
    debut_challenges: offset('challenges'),
    limite: pageSize,
  },
  response: Type.Array(ChallengeItem),
  paged: true,
  isLong: ({ titre, soustitre, lang, score, id_rubrique, 'id_auteur[]': auteurs }) =>
    isAny(titre, soustitre, lang, score, id_rubrique, auteurs),
  errors: ['invalid_parameter', 'search_too_broad'],
})

export const getChallenge = endpoint({
  path: '/challenges/{id_challenge}',
  tag,
  summary: 'Read a challenge',
  pathParameters: idChallenge,
  response: Challenge,
  errors: ['invalid_parameter', 'resource_not_found'],
})

export const listValidations = endpoint({
  path: '/challenges/{id_challenge}/validations',
  tag,
  summary: 'List who solved a challenge, the first solver first',
  description: "By date, then author's id; unknown dates last.",
  pathParameters: idChallenge,
  query: { debut_validations: offset('validations'), limite: pageSize },
  response: Type.Array(Validation),
  paged: true,
  errors: ['invalid_parameter', 'resource_not_found'],
})

const Progression = Type.Object({
  id_challenge: Id,
  nb_validations: Count,
  sans_date: Type.Integer({ minimum: 0, description: 'Validations of an unknown date, which no point counts.' }),
  points: Type.Array(Type.Object({ date: Instant, nb: Count }), {
    description: 'Ascending; `nb` validations at `date` or before.',
  }),
})

export const getProgression = endpoint({
  path: '/challenges/{id_challenge}/progression',
  tag,
  summary: 'Read how the solves of a challenge grew',
  description:
    'A point for each date of a validation while 60 validations at most have one, else 60 dates at equal distances from the first to the last.',
  pathParameters: idChallenge,
  response: Progression,
  errors: ['invalid_parameter', 'resource_not_found'],
})

export interface ProgressionRow extends Omit<Static<typeof Progression>, 'points'> {
  points: { date: number; nb: number }[]
}

export function presentProgression(row: ProgressionRow): Static<typeof Progression> {
  return { ...row, points: row.points.map(({ date, nb }) => ({ date: formatInstant(date), nb })) }
}

export type ChallengeItemRow = Omit<ChallengeRow, 'descriptif' | 'traductions' | 'auteurs' | 'premiere'>

export type ChallengeTitleRow = Omit<ChallengeItemRow, 'nb_validations'>

export interface ChallengeRow extends Omit<Row<typeof challenges>, 'titre_plie' | 'soustitre_plie' | 'lang_cle'> {
  rubrique: string
  traductions: { id_challenge: number; lang: string }[]
  auteurs: { id_auteur: number; nom: string }[]
  premiere: ValidationRow | undefined
}

export interface ValidationRow {
  id_auteur: number
  nom: string
  date: number | null
}

type ChallengeUrlOf = (challenge: ChallengeItemRow) => string

export function presentItem(row: ChallengeItemRow, urlOf: ChallengeUrlOf): Static<typeof ChallengeItem> {
  return {
    id_challenge: row.id_challenge,
    titre: row.titre,
    soustitre: row.soustitre,
    lang: row.lang,
    score: row.score,
    id_rubrique: row.id_rubrique,
    rubrique: row.rubrique,
    difficulte: row.difficulte,
    id_trad: row.id_trad,
    url_challenge: urlOf(row),
    date_publication: presentInstant(row.date_publication),
    nb_validations: row.nb_validations,
  }
}

export function presentChallenge(row: ChallengeRow, urlOf: ChallengeUrlOf): Static<typeof Challenge> {
  return {
    titre: row.titre,
    descriptif: row.descriptif,
    score: row.score,
    id_rubrique: row.id_rubrique,
    id_challenge: row.id_challenge,
    soustitre: row.soustitre,
    rubrique: row.rubrique,
    lang: row.lang,
    difficulte: row.difficulte,
    id_trad: row.id_trad,
    traductions: row.traductions,
    url_challenge: urlOf(row),
    date_publication: presentInstant(row.date_publication),
    auteurs: row.auteurs.map(presentAuteur),
    nb_validations: row.nb_validations,
    premiere_validation: row.premiere ? presentValidation(row.premiere) : null,
  }
}

export function presentValidation(row: ValidationRow): Static<typeof Validation> {
  return { ...presentAuteur(row), date: presentInstant(row.date) }
}

function presentAuteur(row: { id_auteur: number; nom: string }): Static<typeof NamedAuteur> {
  return { id_auteur: String(row.id_auteur), nom: row.nom }
}
