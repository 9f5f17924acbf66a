import Type, { type Static } from 'typebox'
import { Count, endpoint, IdText, Instant, OrNull, Score, Text } from '../contract.js'
import { TIE_BREAKS } from '../model/store-settings.js'
import { equals, id, ids, offset, type Parameter, ParameterError, pageSize } from '../parameters.js'

const tag = { name: 'classement', description: 'The ranking by score.' }

export interface RankedRow {
  id_auteur: number
  nom: string
  score: number
  /** What breaks a tie; 0 where equal scores share a place. */
  date: number
  place: number
  /** The place in the whole ranking, where `place` is one among some authors. */
  position?: number
}

/** A year, or one month of it; the month 0 stands for the whole year. */
export interface Periode {
  annee: number
  mois: number
}

const periode: Parameter<Periode> = {
  schema: Type.String({ title: 'year or month', pattern: '^[0-9]{4}(-(0[1-9]|1[0-2]))?$' }),
  description: 'Only the points earned in this year or month, by date of validation in UTC.',
  emptyIsAbsent: true,
  parse(value) {
    const match = /^([0-9]{4})(?:-(0[1-9]|1[0-2]))?$/.exec(value)
    if (!match) throw new ParameterError('takes a year such as 2026 or a month such as 2026-01')
    return { annee: Number(match[1]), mois: Number(match[2] ?? 0) }
  },
}

/** What a ranking is restricted to: a category, a year or month, or a group. Only one may be given. */
const part = {
  id_rubrique: { ...id('Only the points earned in this category.'), emptyIsAbsent: true },
  periode,
  groupe: equals('group'),
}

const MAX_AUTEURS = 500

const RankedAuteur = Type.Object({
  place: Type.Integer({
    minimum: 1,
    description:
      '1 + the number of ranked authors with a higher score, or with an equal score reached earlier if dates break ties.',
  }),
  nom: Text("The author's name."),
  score: Type.String({ pattern: '^(0|[1-9][0-9]*)$', description: 'Points, carried as a string of digits.' }),
  id_auteur: IdText,
  position: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'With `id_auteur[]`: the place among all, while `place` is among these authors.',
    }),
  ),
})

export const listClassement = endpoint({
  path: '/classement',
  tag,
  summary: 'Read the ranking by score',
  description:
    'Score descending, then id ascending; if dates break ties, the author who reached the score first comes first. By category or period: the points earned there, without the base of a score, of the authors who have a validation there. By group or ids: the places among these authors; those who hold no place are left out. At most one of `id_rubrique`, `periode`, `groupe` and `id_auteur[]`.',
  query: {
    debut_classement: offset('the ranking'),
    limite: pageSize,
    autour_de: id('The page around this author; not together with debut_classement.'),
    ...part,
    'id_auteur[]': ids('Only these authors, with their places among each other.', MAX_AUTEURS),
  },
  response: Type.Array(RankedAuteur),
  paged: true,
  errors: ['invalid_parameter', 'resource_not_found'],
})

const Histogramme = Type.Object({
  nb_auteurs: Count,
  score_max: Score,
  tranches: Type.Array(Type.Object({ de: Score, a: Score, nb: Count }), {
    description: 'Ranges of equal width from 0 to the highest score: from `de` to `a`, both included, `nb` authors.',
  }),
})

export const getHistogramme = endpoint({
  path: '/classement/histogramme',
  tag,
  summary: 'Read how the scores are spread',
  description:
    'How many ranked authors have how many points, in at most 30 ranges whose width is 1, 2 or 5 times a power of ten.',
  query: part,
  response: Histogramme,
  errors: ['invalid_parameter', 'resource_not_found'],
})

/** A year or a month, as the parameter `periode` takes it. */
const Periode = Text('A year or a month of `/classement?periode=`.')

export const listPeriodes = endpoint({
  path: '/classement/periodes',
  tag,
  summary: 'List the years and months that have a ranking',
  description:
    'The years in which a ranked author has a dated validation, latest first, at most a hundred, with their months.',
  response: Type.Array(
    Type.Object({ periode: Periode, mois: Type.Array(Periode, { description: 'Its months, ascending.' }) }),
  ),
})

const Regles = Type.Object({
  departage: Type.Enum([...TIE_BREAKS], {
    description:
      'How equal scores are ranked: they share a place, or the author who reached the score first comes first.',
  }),
  gel: OrNull({
    ...Instant,
    description: 'Validations later than this are not shown, nor are new ones without a date; null if all are shown.',
  }),
})

export const getRegles = endpoint({
  path: '/classement/regles',
  tag,
  summary: 'Read the rules of the rankings',
  description: 'The rules of every ranking, as the operator has set them.',
  response: Regles,
})

export function presentRegles({ departage, gel }: Static<typeof Regles>): Static<typeof Regles> {
  return { departage, gel }
}

export interface PeriodeRow {
  annee: number
  /** From 1 to 12, ascending. */
  mois: number[]
}

export function presentPeriode({ annee, mois }: PeriodeRow): { periode: string; mois: string[] } {
  const periode = String(annee).padStart(4, '0')
  return { periode, mois: mois.map((each) => `${periode}-${String(each).padStart(2, '0')}`) }
}

export type HistogrammeRow = Static<typeof Histogramme>

export function presentRanked(row: RankedRow): Static<typeof RankedAuteur> {
  const { place, nom, score, id_auteur, position } = row
  const shown = { place, nom, score: String(score), id_auteur: String(id_auteur) }
  return position === undefined ? shown : { ...shown, position }
}
