import type { IncomingHttpHeaders } from 'node:http'
import type { Kind } from '../model/kind.js'
import { LISTED_KINDS, type ListedKind } from '../model/kinds.js'

/** The kinds of records that a portal lists and details, by the names of their lists. */
export type Noun = ListedKind['table']
/** Nouns whose detail contains the record alone. */
export type PlainNoun = Exclude<Noun, 'challenges' | 'auteurs'>

/** Challenges come first: authors refer to them. */
export const NOUNS: readonly Noun[] = [...new Set<Noun>(['challenges', ...LISTED_KINDS.map(({ table }) => table)])]

export function kindOfNoun(noun: Noun): Kind {
  return LISTED_KINDS.find(({ table }) => table === noun) as Kind
}

/** The field that carries the id of a record. */
export function idFieldOf(noun: Noun): string {
  return kindOfNoun(noun).key[0] as string
}

export type Dialect = 'contract' | 'dialect'

/** A record as a list names it, with what the list alone knows of it. */
export interface Listed {
  id: number
  note: string
}

export interface ListPage {
  rows: Listed[]
  /** The row that the next page begins at; undefined on the last one. */
  next: number | undefined
  /** Rows of the whole list, if known. */
  total: number | undefined
}

export interface Rubrique {
  id_rubrique: number
  nom: string
}

/** The fields of a line of the dump, but for its type. */
export type Fields = Record<string, unknown>

export interface ChallengeRead {
  fields: Fields & { id_rubrique: number; score: number }
  /** `nom` is empty where it is unknown. */
  rubrique: Rubrique
  auteurs: { id_auteur: number; nom: string }[]
}

export interface AuteurRead {
  /** `score` is null where it is unknown: then the solves alone count. */
  fields: Fields & { nom: string; statut: string; lang: string; score: number | null }
  validations: { id_challenge: number; date: string | null }[]
}

/** How one convention asks and answers. Bodies are checked first; `BadAnswer` names the path and the field. */
export interface Source {
  dialect: Dialect
  /** The nouns that it lists, in the order of `NOUNS`. */
  nouns: readonly Noun[]
  /** The address of one page of a list. */
  pageOf(noun: Noun, debut: number): string
  readPage(noun: Noun, debut: number, at: Place, body: unknown, headers: IncomingHttpHeaders): ListPage
  /** The next page according to the headers of a 304; undefined if they do not say. */
  nextOf(noun: Noun, debut: number, at: Place, headers: IncomingHttpHeaders): { next: number | undefined } | undefined
  /** Where the categories are listed; undefined where only challenges name them. */
  rubriques?: { path: string; read(at: Place, body: unknown): Rubrique[] }
  readChallenge(listed: Listed, at: Place, body: unknown): ChallengeRead
  readAuteur(id: number, at: Place, body: unknown): AuteurRead
  readPlain(noun: PlainNoun, id: number, at: Place, body: unknown): Fields
  /** Whether a 404 is for a record or an empty list, and not for an unknown path. */
  isNothing(body: unknown): boolean
}

/** Where a body came from. */
export interface Place {
  /** The base address. */
  base: string
  path: string
}
