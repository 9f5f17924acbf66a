import { isAcceptableHash } from '../auth/passwords.js'
import { monthOf } from '../instant.js'
import { UNKNOWN_DATE } from '../store/tables.js'
import { fold, lowerAscii } from '../text.js'
import * as field from './fields.js'

/**
 * One kind of line of the dump: how a line is read, and where its record lives. The importer works from these
 * descriptions alone, so a kind is added here and nowhere else.
 */
export interface RecordKind {
  type: string
  table: string
  /** The columns that identify a record, named as the fields are. */
  key: readonly string[]
  /** The other columns of a record. */
  columns: readonly string[]
  /** Columns that the staging table has beside them, for the merge to read, and what they hold. */
  staged: Readonly<Record<string, 'text' | 'bigint'>>
  fields: Fields
  /** The values of the key, the columns and the staged columns, in that order, from the fields of a line. */
  toRow: (line: never) => unknown[]
  /** Columns that name a record of another table by the same column. */
  references: readonly { column: string; table: string }[]
  /** Records of another table that a line holds as a list; its rows begin with the key. */
  children?: { table: string; columns: readonly string[]; toRows: (line: never) => unknown[][] }
}

type Fields = Readonly<Record<string, field.Field<unknown>>>
type Read<F> = { [K in keyof F]: F[K] extends field.Field<infer T> ? T : never }

type RecordKindInit<F extends Fields> = Pick<RecordKind, 'type' | 'table' | 'key' | 'columns' | 'references'> & {
  staged?: RecordKind['staged']
  toRow: (line: Read<F>) => unknown[]
  children?: { table: string; columns: readonly string[]; toRows: (line: Read<F>) => unknown[][] }
}

function recordKind<F extends Fields>(fields: F, init: RecordKindInit<F>): RecordKind {
  return { staged: {}, fields, ...init }
}

const MAX_NAME = 1_000
const MAX_WORD = 100
const MAX_HTML = 1_000_000

const rubriqueFields = { id_rubrique: field.recordId, nom: field.required(MAX_NAME) }

const rubrique = recordKind(rubriqueFields, {
  type: 'rubrique',
  table: 'rubriques',
  key: ['id_rubrique'],
  columns: ['nom'],
  toRow: (line) => [line.id_rubrique, line.nom],
  references: [],
})

const auteurFields = {
  id_auteur: field.recordId,
  nom: field.required(MAX_NAME),
  statut: field.text(MAX_WORD),
  lang: field.text(MAX_WORD),
  score: field.orNull(field.auteurScore),
  score_base: field.orNull(field.base),
}

const auteur = recordKind(auteurFields, {
  type: 'auteur',
  table: 'auteurs',
  key: ['id_auteur'],
  columns: ['nom', 'nom_plie', 'statut', 'statut_cle', 'lang', 'lang_cle'],
  staged: { score_voulu: 'bigint', base_voulue: 'bigint' },
  toRow: (line) => [
    line.id_auteur,
    line.nom,
    fold(line.nom),
    line.statut,
    lowerAscii(line.statut),
    line.lang,
    lowerAscii(line.lang),
    line.score,
    line.score_base,
  ],
  references: [],
})

const challengeFields = {
  id_challenge: field.recordId,
  id_rubrique: field.recordId,
  titre: field.required(MAX_NAME),
  soustitre: field.text(MAX_NAME),
  descriptif: field.text(MAX_HTML),
  lang: field.text(MAX_WORD),
  score: field.challengeScore,
  difficulte: field.text(MAX_WORD),
  id_trad: field.orNull(field.recordId),
  url_challenge: field.challengeUrl,
  date_publication: field.orNull(field.instant),
  auteurs: field.idList,
}

const challenge = recordKind(challengeFields, {
  type: 'challenge',
  table: 'challenges',
  key: ['id_challenge'],
  columns: [
    'id_rubrique',
    'titre',
    'titre_plie',
    'soustitre',
    'soustitre_plie',
    'lang',
    'lang_cle',
    'score',
    'difficulte',
    'id_trad',
    'url_challenge',
    'date_publication',
    'descriptif',
  ],
  staged: { auteurs: 'text' },
  toRow: (line) => [
    line.id_challenge,
    line.id_rubrique,
    line.titre,
    fold(line.titre),
    line.soustitre,
    fold(line.soustitre),
    line.lang,
    lowerAscii(line.lang),
    line.score,
    line.difficulte,
    line.id_trad,
    line.url_challenge,
    line.date_publication,
    line.descriptif,
    JSON.stringify(line.auteurs),
  ],
  references: [{ column: 'id_rubrique', table: 'rubriques' }],
  children: {
    table: 'challenges_auteurs',
    columns: ['id_auteur'],
    toRows: (line) => line.auteurs.map((id) => [line.id_challenge, id]),
  },
})

const validationFields = { id_auteur: field.recordId, id_challenge: field.recordId, date: field.orNull(field.instant) }

const validation = recordKind(validationFields, {
  type: 'validation',
  table: 'validations',
  key: ['id_auteur', 'id_challenge'],
  columns: ['date', 'mois'],
  toRow: (line) => [
    line.id_auteur,
    line.id_challenge,
    line.date ?? UNKNOWN_DATE,
    line.date === null ? null : monthOf(line.date),
  ],
  references: [
    { column: 'id_auteur', table: 'auteurs' },
    { column: 'id_challenge', table: 'challenges' },
  ],
})

const environnementVirtuelFields = {
  id_environnement_virtuel: field.recordId,
  nom: field.required(MAX_NAME),
  os: field.text(MAX_WORD),
  statut: field.text(MAX_WORD),
  lang: field.text(MAX_WORD),
  description_fr: field.text(MAX_HTML),
  description_en: field.text(MAX_HTML),
  time_to_root: field.orNull(field.seconds),
}

const environnementVirtuel = recordKind(environnementVirtuelFields, {
  type: 'environnement_virtuel',
  table: 'environnements_virtuels',
  key: ['id_environnement_virtuel'],
  columns: ['nom', 'nom_plie', 'os', 'os_cle', 'statut', 'lang', 'description_fr', 'description_en', 'time_to_root'],
  toRow: (line) => [
    line.id_environnement_virtuel,
    line.nom,
    fold(line.nom),
    line.os,
    lowerAscii(line.os),
    line.statut,
    line.lang,
    line.description_fr,
    line.description_en,
    line.time_to_root,
  ],
  references: [],
})

export const keyFields = {
  id: field.orNull(field.recordId),
  nom: field.required(MAX_NAME),
  prefixe: field.required(MAX_WORD),
  empreinte: field.matching((text) => /^[0-9a-f]{64}$/.test(text), 'a SHA-256 in lower-case hex'),
  portee: field.scopes,
  creation: field.instant,
  expiration: field.instant,
  derniere_utilisation: field.orNull(field.instant),
}

const MAX_KEYS = 1_000

const keyList: field.Field<Read<typeof keyFields>[]> = (value) => {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || value.length > MAX_KEYS)
    throw new field.FieldError(`must be a list of at most ${MAX_KEYS} keys`)
  return value.map((key: unknown, index) => readFields(keyFields, key, `[${index}].`))
}

const compteFields = {
  login: field.required(MAX_WORD),
  id_auteur: field.recordId,
  mot_de_passe: field.matching(isAcceptableHash, 'an argon2id hash of at most 256 MiB, 10 passes and 8 lanes'),
  operateur: field.boolean,
  desactive: field.boolean,
  creation: field.instant,
  cles: keyList,
}

const compte = recordKind(compteFields, {
  type: 'compte',
  table: 'comptes',
  key: ['login'],
  columns: ['id_auteur', 'mot_de_passe', 'operateur', 'desactive', 'creation'],
  staged: { cles: 'text' },
  toRow: (line) => [
    line.login,
    line.id_auteur,
    line.mot_de_passe,
    line.operateur,
    line.desactive,
    line.creation,
    JSON.stringify(line.cles),
  ],
  references: [{ column: 'id_auteur', table: 'auteurs' }],
  children: {
    table: 'cles_api',
    columns: ['id_cle', 'nom', 'prefixe', 'empreinte', 'portee', 'creation', 'expiration', 'derniere_utilisation'],
    toRows: (line) =>
      line.cles.map((key) => [
        ...[line.login, key.id, key.nom, key.prefixe, key.empreinte, key.portee],
        ...[key.creation, key.expiration, key.derniere_utilisation],
      ]),
  },
})

/** Every kind, those that others refer to first. */
export const recordKinds = [rubrique, auteur, challenge, validation, environnementVirtuel, compte] as const

const kindsByType = new Map<unknown, RecordKind>(recordKinds.map((kind) => [kind.type, kind]))

export function kindOf(type: unknown): RecordKind | undefined {
  return kindsByType.get(type)
}

/** What a line that removes a record says of it. Throws `FieldError` that names the field. */
export function readKey(kind: RecordKind, line: unknown): unknown[] {
  const fields = Object.fromEntries(kind.key.map((name) => [name, kind.fields[name] as field.Field<unknown>]))
  return Object.values(readFields(fields, line))
}

/** What the staging table takes of a line, and the rows of the list in it. Throws `FieldError` that names the field. */
export function readRecord(kind: RecordKind, line: unknown): { row: unknown[]; children: () => unknown[][] } {
  const values = readFields(kind.fields, line) as never
  return { row: kind.toRow(values), children: () => kind.children?.toRows(values) ?? [] }
}

function readFields<F extends Fields>(fields: F, object: unknown, prefix = ''): Read<F> {
  if (typeof object !== 'object' || object === null) throw new field.FieldError(`${prefix} must be an object`)
  const values: Record<string, unknown> = {}
  for (const name in fields) {
    try {
      values[name] = (fields[name] as field.Field<unknown>)((object as Record<string, unknown>)[name])
    } catch (error) {
      throw error instanceof field.FieldError ? new field.FieldError(`${prefix}${name} ${error.message}`) : error
    }
  }
  return values as Read<F>
}
