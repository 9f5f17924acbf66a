import Type, { type Static } from 'typebox'
import { endpoint, IdText, id, offset, pageSize, Text } from '../contract.js'

export interface RankedRow {
  id_auteur: number
  nom: string
  score: number
  place: number
}

const RankedAuteur = Type.Object({
  place: Type.Integer({
    minimum: 1,
    description: '1 + the number of ranked authors with a strictly higher score; ties share it.',
  }),
  nom: Text("The author's name."),
  score: Type.String({ pattern: '^(0|[1-9][0-9]*)$', description: 'Points, carried as a string of digits.' }),
  id_auteur: IdText,
})

export const listClassement = endpoint({
  path: '/classement',
  tag: 'classement',
  summary: 'Read the ranking by score',
  description: 'Score descending, then id ascending.',
  query: {
    debut_classement: offset('the ranking'),
    limite: pageSize,
    autour_de: id('The page around this author; not together with debut_classement.'),
  },
  response: Type.Array(RankedAuteur),
  paged: true,
  errors: ['invalid_parameter', 'resource_not_found'],
})

export function presentRanked(row: RankedRow): Static<typeof RankedAuteur> {
  return { place: row.place, nom: row.nom, score: String(row.score), id_auteur: String(row.id_auteur) }
}
