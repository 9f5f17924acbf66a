import type { AuteurItemRow, AuteurRow } from '../auteurs/contract.js'
import type { ChallengeRow, ChallengeTitleRow, ValidationRow } from '../challenges/contract.js'
import type { RankedRow } from '../classement/contract.js'
import type { ReadContext } from '../contract.js'
import type { EnvironnementItemRow, EnvironnementRow } from '../environnements_virtuels/contract.js'
import { formatParis } from '../paris.js'
import { keyed } from './envelope.js'
import { rangOf } from './rang.js'

/** The bodies of the dialect, from the rows that the contract's bodies are made from. Scalars are strings. */

export function presentChallengeItem(row: ChallengeTitleRow) {
  const date = formatParis(row.date_publication)
  return {
    id_challenge: String(row.id_challenge),
    id_rubrique: String(row.id_rubrique),
    titre: row.titre,
    lang: row.lang,
    date_publication: date,
    maj: date,
  }
}

/** `validations` is the page of them that is shown, the latest first. */
export function presentChallenge(
  row: ChallengeRow,
  validations: readonly ValidationRow[],
  urlOf: ReadContext['challengeUrl'],
) {
  const date = formatParis(row.date_publication)
  return {
    titre: row.titre,
    rubrique: row.rubrique,
    soustitre: row.soustitre,
    score: String(row.score),
    index_challenge: String(row.id_challenge),
    id_rubrique: String(row.id_rubrique),
    id_trad: String(row.id_trad ?? 0),
    url_challenge: urlOf(row),
    date_publication: date,
    maj: date,
    difficulte: row.difficulte,
    auteurs: keyed(row.auteurs.map(presentAuteurItem)),
    validations: keyed(
      validations.map(({ id_auteur, date }) => ({ id_auteur: String(id_auteur), date: formatParis(date) })),
    ),
  }
}

export function presentAuteurItem({ id_auteur, nom }: AuteurItemRow) {
  return { id_auteur: String(id_auteur), nom }
}

export function presentAuteur(row: AuteurRow, urlOf: ReadContext['challengeUrl']) {
  return {
    ...presentAuteurItem(row),
    statut: row.statut,
    logo_url: '',
    score: String(row.score),
    position: row.position,
    rang: rangOf(row.score),
    membre: 'false',
    challenges: row.challenges.map((challenge) => ({
      id_challenge: String(challenge.id_challenge),
      titre: challenge.titre,
      url_challenge: urlOf(challenge),
    })),
    solutions: [],
    validations: row.validations.map(({ id_challenge, titre, id_rubrique, date }) => ({
      id_challenge: String(id_challenge),
      titre,
      id_rubrique: String(id_rubrique),
      date: formatParis(date),
    })),
  }
}

export function presentRanked({ place, id_auteur, nom, score }: RankedRow) {
  return { place, id_auteur: String(id_auteur), nom, score: String(score) }
}

export function presentEnvironnementItem({ id_environnement_virtuel, nom }: EnvironnementItemRow) {
  return { id_environnement_virtuel: String(id_environnement_virtuel), nom }
}

export function presentEnvironnement(row: EnvironnementRow) {
  return {
    ...presentEnvironnementItem(row),
    description_fr: row.description_fr,
    description_en: row.description_en,
    time_to_root: String(row.time_to_root ?? ''),
    os: row.os,
  }
}
