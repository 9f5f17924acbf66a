import Type, { type Static } from 'typebox'
import { endpoint, isAny, OrNull, Text } from '../contract.js'
import type { Row } from '../model/kind.js'
import type { environnementsVirtuels } from '../model/kinds.js'
import { contains, equals, Id, id, offset, pageSize } from '../parameters.js'

const tag = { name: 'environnements_virtuels', description: "The virtual environments of the portal's events." }

const EnvironnementItem = Type.Object({
  id_environnement_virtuel: Id,
  nom: Text('Name.'),
  os: Text('Operating system.'),
})

const Environnement = Type.Object({
  ...EnvironnementItem.properties,
  statut: Text('Status.'),
  lang: Text('Language.'),
  description_fr: Text('Description in French.'),
  description_en: Text('Description in English.'),
  time_to_root: OrNull(Type.Integer({ minimum: 0, description: 'Seconds.' })),
})

export const listEnvironnements = endpoint({
  path: '/environnements_virtuels',
  tag,
  summary: 'Search virtual environments',
  description: 'By id, ascending. Filters combine with AND.',
  query: {
    nom: contains('name'),
    os: equals('operating system'),
    debut_environnements_virtuels: offset('virtual environments'),
    limite: pageSize,
  },
  response: Type.Array(EnvironnementItem),
  paged: true,
  isLong: ({ nom, os }) => isAny(nom, os),
  errors: ['invalid_parameter', 'search_too_broad'],
})

export const getEnvironnement = endpoint({
  path: '/environnements_virtuels/{id_environnement_virtuel}',
  tag,
  summary: 'Read a virtual environment',
  pathParameters: { id_environnement_virtuel: id('The virtual environment.') },
  response: Environnement,
  errors: ['invalid_parameter', 'resource_not_found'],
})

export type EnvironnementRow = Omit<Row<typeof environnementsVirtuels>, 'nom_plie' | 'os_cle'>
export type EnvironnementItemRow = Pick<EnvironnementRow, 'id_environnement_virtuel' | 'nom' | 'os'>

export function presentEnvironnementItem(row: EnvironnementItemRow): Static<typeof EnvironnementItem> {
  return { id_environnement_virtuel: row.id_environnement_virtuel, nom: row.nom, os: row.os }
}

export function presentEnvironnement(row: EnvironnementRow): Static<typeof Environnement> {
  return {
    ...presentEnvironnementItem(row),
    statut: row.statut,
    lang: row.lang,
    description_fr: row.description_fr,
    description_en: row.description_en,
    time_to_root: row.time_to_root,
  }
}
