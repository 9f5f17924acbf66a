import Type, { type Static } from 'typebox'
import { Count, endpoint, Text } from '../contract.js'
import { offset, pageSize } from '../parameters.js'

const tag = { name: 'groupes', description: 'The groups of authors: divisions, teams, schools or countries.' }

const Groupe = Type.Object({
  nom: Text("The group's name, as its ranked author with the lowest id has it."),
  nb_auteurs: Count,
})

export const listGroupes = endpoint({
  path: '/groupes',
  tag,
  summary: 'List the groups of ranked authors',
  description: 'By name, ignoring case and accents. `nb_auteurs` counts the authors who hold a place.',
  query: { debut_groupes: offset('groups'), limite: pageSize },
  response: Type.Array(Groupe),
  paged: true,
  isLong: ({ debut_groupes = 0 }) => debut_groupes > 10_000,
  errors: ['invalid_parameter', 'search_too_broad'],
})

export type GroupeRow = Static<typeof Groupe>

export function presentGroupe({ nom, nb_auteurs }: GroupeRow): GroupeRow {
  return { nom, nb_auteurs }
}
