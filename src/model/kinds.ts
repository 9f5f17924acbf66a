import { formatInstant, monthOf, UNKNOWN_DATE } from '../instant.js'
import {
  flag,
  folded,
  INTEGER,
  INTEGER_OR_NULL,
  instant,
  integer,
  type Kind,
  kind,
  list,
  lowered,
  orNull,
  type Row,
  refersTo,
  staged,
  text,
  twinned,
} from './kind.js'
import { readFields } from './line.js'
import * as read from './readers.js'

/*
 * The records of a portal. Everything that needs their fields or tables is derived from these descriptions: rows, staging,
 * upserts, checks of references, dump, exports, search, mirror. What a record means beyond that is written where it happens: scores and counts in
 * `portal/derive.ts`, live changes in `portal/live/rules.ts`, credentials in `portal/merge.ts`.
 */

const id = integer(read.recordId)
const name = text(read.required(1_000))
const word = text(read.text(100))
const html = text(read.text(1_000_000))
const dateOrNull = orNull(instant(read.instant))

export const rubriques = kind({
  type: 'rubrique',
  label: 'category',
  table: 'rubriques',
  key: ['id_rubrique'],
  fields: { id_rubrique: id, nom: name },
  own: { nb_challenges: INTEGER },
  flat: ['id_rubrique', 'nom', 'nb_challenges'],
  isLive: true,
})

export const auteurs = kind({
  type: 'auteur',
  label: 'player',
  table: 'auteurs',
  key: ['id_auteur'],
  fields: {
    id_auteur: id,
    nom: twinned(name, { nom_plie: folded }),
    statut: twinned(word, { statut_cle: lowered }),
    lang: twinned(word, { lang_cle: lowered }),
    // The score follows from the base; a line names either, and the merge works out the base.
    score: staged('score_voulu', orNull(integer(read.auteurScore))),
    score_base: staged('base_voulue', { ...orNull(integer(read.base)), wire: undefined }),
    groupe: twinned(word, { groupe_cle: lowered, groupe_plie: { ...folded, isSearched: false } }),
    // When the base was reached, for ties that dates break.
    date_score: { ...dateOrNull, wire: undefined },
  },
  own: {
    // What the score has besides the solves; may be negative.
    base: INTEGER,
    score: INTEGER,
    // The score negated, so that the ranking is one ascending index; null for an author who has no place.
    cle_classement: INTEGER_OR_NULL,
    // If dates break ties: when the score was reached; else 0.
    date_classement: INTEGER,
    nb_validations: INTEGER,
  },
  flat: ['id_auteur', 'nom', 'statut', 'lang', 'score', 'nb_validations', 'groupe'],
  isListed: true,
  isLive: true,
})

export const challenges = kind({
  type: 'challenge',
  label: 'challenge',
  table: 'challenges',
  key: ['id_challenge'],
  fields: {
    id_challenge: id,
    id_rubrique: refersTo('rubriques', id),
    titre: twinned(name, { titre_plie: folded }),
    soustitre: twinned(text(read.text(1_000)), { soustitre_plie: folded }),
    descriptif: html,
    lang: twinned(word, { lang_cle: lowered }),
    score: integer(read.challengeScore),
    difficulte: word,
    id_trad: orNull(id),
    // A path under the portal's page address, an absolute http(s) address, or empty.
    url_challenge: text(read.challengeUrl),
    date_publication: dateOrNull,
    auteurs: list(read.idList, {
      table: 'challenges_auteurs',
      columns: ['id_auteur'],
      toRow: (idAuteur) => [idAuteur],
      references: [
        { column: 'id_auteur', parent: 'auteurs' },
        { column: 'id_challenge', parent: 'challenges' },
      ],
    }),
  },
  own: { nb_validations: INTEGER },
  flat: [
    ...['id_challenge', 'titre', 'soustitre', 'lang', 'score', 'id_rubrique', 'rubrique', 'difficulte', 'id_trad'],
    ...['url_challenge', 'date_publication', 'nb_validations', 'auteurs', 'descriptif'],
  ] as string[],
  isListed: true,
  isLive: true,
  isLong: true,
})

/** A date that is unknown is a number too, so that it has a place in the order of dates. */
const dateOfValidation = {
  ...instant((value) => dateOrNull.read(value) ?? UNKNOWN_DATE),
  show: (date: number) => (date === UNKNOWN_DATE ? null : formatInstant(date)),
}

/** Year and month in UTC, as the number 202601. */
const month = { ...INTEGER_OR_NULL, of: (date: number) => (date === UNKNOWN_DATE ? null : monthOf(date)) }

/** Whether the line is of a validation that is stored but not shown; the merge decides where it is stored. */
const mark = { ...INTEGER, read: read.boolean, show: (value: number | undefined) => (value === 1 ? true : null) }

export const validations = kind({
  type: 'validation',
  label: 'solve',
  table: 'validations',
  key: ['id_auteur', 'id_challenge'],
  fields: {
    id_auteur: refersTo('auteurs', id),
    id_challenge: refersTo('challenges', id),
    date: twinned(dateOfValidation, { mois: month }),
    gelee: staged('gelee', mark),
  },
  flat: ['id_auteur', 'id_challenge', 'date'],
  isLive: true,
})

export const environnementsVirtuels = kind({
  type: 'environnement_virtuel',
  label: 'virtual environment',
  table: 'environnements_virtuels',
  key: ['id_environnement_virtuel'],
  fields: {
    id_environnement_virtuel: id,
    nom: twinned(name, { nom_plie: folded }),
    os: twinned(word, { os_cle: lowered }),
    statut: word,
    lang: word,
    description_fr: html,
    description_en: html,
    time_to_root: orNull(integer(read.seconds)),
  },
  flat: [
    ...['id_environnement_virtuel', 'nom', 'os', 'statut', 'lang', 'description_fr', 'description_en'],
    'time_to_root',
  ] as string[],
  isListed: true,
  isLong: true,
})

/** A key of an account, in the order of the columns of `cles_api`; the first of these is `id_cle`. */
export const keyFields = {
  id: orNull(id),
  nom: name,
  prefixe: text(read.required(100)),
  empreinte: text(read.sha256),
  portee: { ...text(read.scopes), show: (portee: string) => portee.split(' ') },
  creation: instant(read.instant),
  expiration: instant(read.instant),
  derniere_utilisation: dateOrNull,
}

export const comptes = kind({
  type: 'compte',
  label: 'account',
  table: 'comptes',
  key: ['login'],
  fields: {
    login: text(read.required(100)),
    id_auteur: refersTo('auteurs', id),
    mot_de_passe: text(read.passwordHash),
    operateur: flag(read.boolean),
    desactive: flag(read.boolean),
    creation: instant(read.instant),
    cles: list(
      read.listOf('keys', 1_000, (key, place) => readFields(keyFields, key, place)),
      {
        table: 'cles_api',
        columns: ['id_cle', ...Object.keys(keyFields).slice(1)],
        toRow: Object.values,
        references: [{ column: 'id_compte', parent: 'comptes' }],
      },
    ),
  },
  own: { id_compte: INTEGER },
  isAccount: true,
})

/** Every kind, those that others refer to first: the order in which a dump has them and an import merges them. */
export const KINDS = [rubriques, auteurs, challenges, validations, environnementsVirtuels, comptes] as const

/** The kinds that the API has a paged list of. */
export type ListedKind = Extract<(typeof KINDS)[number], { isListed: true }>

/** The tables of the kinds, by name. */
export type KindTables = { [K in (typeof KINDS)[number] as K['table']]: Row<K> }

const byType = new Map<unknown, Kind>(KINDS.map((each) => [each.type, each]))

export function kindOf(type: unknown): Kind | undefined {
  return byType.get(type)
}

export const DATA_KINDS: readonly Kind[] = KINDS.filter(({ isAccount }) => !isAccount)

/** Reports and exports list challenges before authors. This order is part of the contract. */
export const REPORTED_KINDS: readonly Kind[] = [...new Set<Kind>([rubriques, challenges, ...KINDS])]

/** The types of lines that change single records of a portal that is served. */
export const LIVE_TYPES = KINDS.filter(({ isLive }) => isLive)
  .map(({ type }) => type)
  .reverse()

export const LISTED_KINDS: readonly ListedKind[] = KINDS.filter((each): each is ListedKind => each.isListed)

/** The kinds whose texts are searched: their tables have a search index of the columns in `searched`. */
export const SEARCHED_KINDS: readonly Kind[] = KINDS.filter(({ searched }) => searched.length > 0)
