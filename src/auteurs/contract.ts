import Type, { type Static } from 'typebox'
import { Count, endpoint, IdText, Instant, isAny, OrNull, presentInstant, Score, Text } from '../contract.js'
import { formatInstant } from '../instant.js'
import type { Row } from '../model/kind.js'
import type { auteurs } from '../model/kinds.js'
import { contains, equals, Id, id, ids, offset, pageSize } from '../parameters.js'

const tag = { name: 'auteurs', description: "The portal's users." }

const AuteurItem = Type.Object({ id_auteur: IdText, nom: Text("The author's name.") })

const Auteur = Type.Object({
  nom: Text("The author's name."),
  score: Score,
  position: Type.Integer({
    minimum: 1,
    description: 'The place in the ranking; for a hidden author the place that the score would have.',
  }),
  challenges: Type.Array(
    Type.Object({
      id_challenge: Id,
      url_challenge: Type.String({
        format: 'uri',
        description: "Absolute address of the challenge's page on the portal.",
      }),
      titre: Text('Title.'),
    }),
    { description: 'The challenges that the author wrote, by id.' },
  ),
  id_auteur: IdText,
  statut: Text('Status.'),
  lang: Text('Language.'),
  nb_validations: Count,
  validations: Type.Array(
    Type.Object({ id_challenge: Id, titre: Text('Title.'), id_rubrique: Id, score: Score, date: OrNull(Instant) }),
    { description: 'The challenges that the author solved, all of them, the latest first; unknown dates last.' },
  ),
  groupe: Text('Group: a division, team, school or country.'),
})

export const listAuteurs = endpoint({
  path: '/auteurs',
  tag,
  summary: 'Search authors',
  description: 'By id, ascending; an object whose keys "0", "1", … restart on each page. Filters combine with AND.',
  query: {
    nom: contains('name'),
    statut: equals('status'),
    lang: equals('language'),
    'id_auteur[]': ids('These authors.'),
    debut_auteurs: offset('authors'),
    limite: pageSize,
    groupe: equals('group'),
  },
  response: Type.Record(Type.String({ pattern: '^(0|[1-9][0-9]*)$' }), AuteurItem),
  paged: true,
  // Named authors are few, whatever else is asked of them.
  isLong: (asked) => !asked['id_auteur[]'] && isAny(asked.nom, asked.statut, asked.lang, asked.groupe),
  errors: ['invalid_parameter', 'search_too_broad'],
})

export const getAuteur = endpoint({
  path: '/auteurs/{id_auteur}',
  tag,
  summary: 'Read an author',
  pathParameters: { id_auteur: id('The author.') },
  response: Auteur,
  errors: ['invalid_parameter', 'resource_not_found'],
})

const Progression = Type.Object({
  id_auteur: IdText,
  score_initial: Type.Integer({
    minimum: 0,
    description: 'Before the first point: the base of the score, and what was solved at an unknown date.',
  }),
  score: Score,
  points: Type.Array(Type.Object({ date: Instant, score: Score }), {
    description: 'Ascending; the score at `date`, by what each challenge is worth now.',
  }),
})

export const getProgression = endpoint({
  path: '/auteurs/{id_auteur}/progression',
  tag,
  summary: "Read how an author's score grew",
  description: 'A point for each date of a validation while they are 500 at most, else 500 of them, the last included.',
  pathParameters: { id_auteur: id('The author.') },
  response: Progression,
  errors: ['invalid_parameter', 'resource_not_found'],
})

export interface ProgressionRow extends Omit<Static<typeof Progression>, 'id_auteur' | 'points'> {
  id_auteur: number
  points: { date: number; score: number }[]
}

export function presentProgression(row: ProgressionRow): Static<typeof Progression> {
  const points = row.points.map(({ date, score }) => ({ date: formatInstant(date), score }))
  return { ...row, id_auteur: String(row.id_auteur), points }
}

export type AuteurItemRow = Pick<AuteurRow, 'id_auteur' | 'nom'>

export interface AuteurRow
  extends Pick<Row<typeof auteurs>, 'id_auteur' | 'nom' | 'score' | 'statut' | 'lang' | 'nb_validations' | 'groupe'> {
  position: number
  challenges: { id_challenge: number; url_challenge: string; titre: string }[]
  validations: { id_challenge: number; titre: string; id_rubrique: number; score: number; date: number | null }[]
}

/** The seed's list: an object keyed by the index of the row on its page. */
export function presentAuteurs(rows: AuteurItemRow[]): Static<typeof listAuteurs.response & {}> {
  return Object.fromEntries(
    rows.map((row, index) => [String(index), { id_auteur: String(row.id_auteur), nom: row.nom }]),
  )
}

export function presentAuteur(
  row: AuteurRow,
  urlOf: (challenge: AuteurRow['challenges'][number]) => string,
): Static<typeof Auteur> {
  return {
    nom: row.nom,
    score: row.score,
    position: row.position,
    challenges: row.challenges.map((challenge) => ({
      id_challenge: challenge.id_challenge,
      url_challenge: urlOf(challenge),
      titre: challenge.titre,
    })),
    id_auteur: String(row.id_auteur),
    statut: row.statut,
    lang: row.lang,
    nb_validations: row.nb_validations,
    validations: row.validations.map((validation) => ({
      id_challenge: validation.id_challenge,
      titre: validation.titre,
      id_rubrique: validation.id_rubrique,
      score: validation.score,
      date: presentInstant(validation.date),
    })),
    groupe: row.groupe,
  }
}
