import Type, { type Static } from 'typebox'
import { Count, endpoint, Text } from '../contract.js'
import type { Row } from '../model/kind.js'
import type { rubriques } from '../model/kinds.js'
import { Id } from '../parameters.js'

const tag = { name: 'rubriques', description: 'The categories of challenges.' }

const Rubrique = Type.Object({ id_rubrique: Id, nom: Text("The category's name."), nb_challenges: Count })

export const listRubriques = endpoint({
  path: '/rubriques',
  tag,
  summary: 'List the categories, all of them',
  description: 'By id, ascending.',
  response: Type.Array(Rubrique),
})

export type RubriqueRow = Row<typeof rubriques>

export function presentRubrique(row: RubriqueRow): Static<typeof Rubrique> {
  return { id_rubrique: row.id_rubrique, nom: row.nom, nb_challenges: row.nb_challenges }
}
