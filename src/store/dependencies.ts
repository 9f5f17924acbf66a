import { DATA_KINDS, type KINDS } from '../model/kinds.js'
import type { JournalEntry } from './changes.js'

/** The tables whose records a read may show: those of the data, and of the lists in their records. */
export type DataTable = Exclude<(typeof KINDS)[number]['table'], 'comptes'> | 'challenges_auteurs'
export const DATA_TABLES = DATA_KINDS.flatMap(({ table, list }) => [table, list?.table ?? []].flat()) as DataTable[]

/** The columns by which the journal names records of a table. */
export interface NamedBy {
  rubriques: 'id_rubrique'
  auteurs: 'id_auteur'
  challenges: 'id_challenge'
  validations: 'id_auteur' | 'id_challenge'
}
export type NamedTable = keyof NamedBy
/** A column that names records: `validations.id_auteur` for what an author solved. */
export type RecordColumn = { [T in NamedTable]: `${T}.${NamedBy[T]}` }[NamedTable]

/** Keys of a counted order, from the first to the last. */
export type Span = readonly [from: number, to: number]

/** What a read showed, so that its answer stays right until that changes. An import changes everything. */
export interface Dependencies {
  /** Any change that the journal knows. */
  isEverything: boolean
  /** Any record of these tables. */
  tables: readonly DataTable[]
  /** Some records of other tables, by their ids. */
  records: readonly (readonly [column: RecordColumn, ids: readonly number[]])[]
  /** Counted orders: how many entries each has, and which lie in these spans of its keys. */
  orders: readonly (readonly [arbre: string, spans: readonly Span[]])[]
  /** How many of all these there are. */
  size: number
}

/** What a column that no line sets follows from; under `*` what all columns of a table follow from. */
export const FOLLOWS: Readonly<Record<string, Readonly<Record<string, readonly DataTable[]>>>> = {
  rubriques: { nb_challenges: ['challenges'] },
  auteurs: {
    score: ['validations', 'challenges'],
    cle_classement: ['validations', 'challenges'],
    date_classement: ['validations', 'challenges'],
    nb_validations: ['validations'],
  },
  challenges: { nb_validations: ['validations'] },
  classements: { '*': ['validations', 'challenges', 'auteurs'] },
  groupes: { '*': ['auteurs'] },
  // The counted orders themselves, which note what is read of them.
  noeuds: {},
  // The rows of a parameter.
  json_each: {},
  json_array_elements: {},
  // The journal records a changed setting as a change of everything.
  reglages: {},
}

/** What a line of the journal changes: tables, and in each the records by id, or all of them. */
export type Touched = readonly (readonly [
  table: DataTable,
  ids: Readonly<Record<string, number | null | undefined>> | 'all',
])[]

/** What a line of the journal changes besides counted orders; undefined where it may be anything. */
export function touchedBy({ type, supprime, ...ids }: JournalEntry): Touched | undefined {
  const { id_auteur, id_challenge, id_rubrique } = ids
  const isRemoved = supprime === 1
  switch (type) {
    case 'validation':
      return [['validations', { id_auteur, id_challenge }]]
    case 'auteur':
      // What they solved and wrote is removed with them.
      return [
        ['auteurs', { id_auteur }],
        ...(isRemoved
          ? ([
              ['validations', 'all'],
              ['challenges_auteurs', 'all'],
            ] as const)
          : []),
      ]
    case 'challenge':
      return [
        ['challenges', { id_challenge }],
        ['challenges_auteurs', 'all'],
        ...(isRemoved ? ([['validations', 'all']] as const) : []),
      ]
    case 'rubrique':
      return [['rubriques', { id_rubrique }]]
    case 'classement':
    case 'reglage':
      return []
    default:
      return undefined
  }
}
