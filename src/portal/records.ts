import { isAcceptableHash } from '../auth/passwords.js'
import { monthOf } from '../instant.js'
import { UNKNOWN_DATE } from '../store/tables.js'
import { fold, lowerAscii } from '../text.js'
import * as field from './fields.js'
import { type Read, type RecordKind, readFields, recordKind } from './record-kind.js'

const MAX_NAME = 1_000
const MAX_WORD = 100
const MAX_HTML = 1_000_000

const rubriqueFields = { id_rubrique: field.recordId, nom: field.required(MAX_NAME) }

const rubrique = recordKind(rubriqueFields, {
  type: 'rubrique',
  table: 'rubriques',
  key: ['id_rubrique'],
  columns: { nom: 'nom' },
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
  columns: {
    nom: 'nom',
    nom_plie: ['nom', fold],
    statut: 'statut',
    statut_cle: ['statut', lowerAscii],
    lang: 'lang',
    lang_cle: ['lang', lowerAscii],
  },
  staged: { score_voulu: ['bigint', 'score'], base_voulue: ['bigint', 'score_base'] },
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
  columns: {
    id_rubrique: 'id_rubrique',
    titre: 'titre',
    titre_plie: ['titre', fold],
    soustitre: 'soustitre',
    soustitre_plie: ['soustitre', fold],
    lang: 'lang',
    lang_cle: ['lang', lowerAscii],
    score: 'score',
    difficulte: 'difficulte',
    id_trad: 'id_trad',
    url_challenge: 'url_challenge',
    date_publication: 'date_publication',
    descriptif: 'descriptif',
  },
  staged: { auteurs: ['text', ['auteurs', (ids: readonly number[]) => JSON.stringify(ids)]] },
  references: [{ column: 'id_rubrique', table: 'rubriques' }],
  children: {
    field: 'auteurs',
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
  columns: {
    date: ['date', (date: number | null) => date ?? UNKNOWN_DATE],
    mois: ['date', (date: number | null) => (date === null ? null : monthOf(date))],
  },
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
  columns: {
    nom: 'nom',
    nom_plie: ['nom', fold],
    os: 'os',
    os_cle: ['os', lowerAscii],
    statut: 'statut',
    lang: 'lang',
    description_fr: 'description_fr',
    description_en: 'description_en',
    time_to_root: 'time_to_root',
  },
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
  columns: {
    id_auteur: 'id_auteur',
    mot_de_passe: 'mot_de_passe',
    operateur: 'operateur',
    desactive: 'desactive',
    creation: 'creation',
  },
  staged: { cles: ['text', ['cles', (cles: readonly unknown[]) => JSON.stringify(cles)]] },
  references: [{ column: 'id_auteur', table: 'auteurs' }],
  children: {
    field: 'cles',
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
