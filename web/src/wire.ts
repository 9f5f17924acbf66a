/** What the API answers, as far as the page reads it; docs/openapi.json describes all of it. */
export interface Compte {
  login: string
  id_auteur: string
  nom: string
  operateur: boolean
  acces: 'session' | 'cle'
  portee: string[]
}

export interface ApiKey {
  id: number
  nom: string
  prefixe: string
  portee: string[]
  creation: string
  expiration: string
  derniere_utilisation: string | null
}

export interface Ranked {
  place: number
  nom: string
  score: string
  id_auteur: string
}

export interface Histogramme {
  nb_auteurs: number
  score_max: number
  tranches: { de: number; a: number; nb: number }[]
}

export interface Rubrique {
  id_rubrique: number
  nom: string
  nb_challenges: number
}

export interface ChallengeItem {
  id_challenge: number
  titre: string
  soustitre: string
  lang: string
  score: number
  id_rubrique: number
  rubrique: string
  difficulte: string
  url_challenge: string
  date_publication: string | null
  nb_validations: number
}

export interface NamedAuteur {
  id_auteur: string
  nom: string
}

export interface Validation extends NamedAuteur {
  date: string | null
}

export interface Challenge extends ChallengeItem {
  /** HTML of the portal: to be shown by `SafeHtml` alone. */
  descriptif: string
  traductions: { id_challenge: number; lang: string }[]
  auteurs: NamedAuteur[]
  premiere_validation: Validation | null
}

export interface ChallengeProgression {
  nb_validations: number
  sans_date: number
  points: { date: string; nb: number }[]
}

export interface Solved {
  id_challenge: number
  titre: string
  id_rubrique: number
  score: number
  date: string | null
}

export interface Auteur extends NamedAuteur {
  score: number
  position: number
  challenges: { id_challenge: number; url_challenge: string; titre: string }[]
  statut: string
  lang: string
  nb_validations: number
  validations: Solved[]
}

export interface AuteurProgression {
  score_initial: number
  score: number
  points: { date: string; score: number }[]
}

export interface EnvironnementItem {
  id_environnement_virtuel: number
  nom: string
  os: string
}

export interface Environnement extends EnvironnementItem {
  statut: string
  lang: string
  description_fr: string
  description_en: string
  /** Seconds. */
  time_to_root: number | null
}

export interface Trafic {
  processus: number
  en_cours: number
  requetes: number
  refusees: number
  limitees: number
  erreurs: number
  latences: { secondes: number | null; nb: number }[]
}

export interface Exploitation {
  version: string
  moteur: 'sqlite' | 'postgres'
  donnees: {
    version: number
    modification: string | null
    dernier_import: string | null
    rubriques: number
    challenges: number
    auteurs: number
    classes: number
    validations: number
    environnements_virtuels: number
    octets: number
  }
  trafic: Trafic
}

/** The reads of the API that the page makes, by path. */
export interface Reads {
  '/compte': Compte
  '/cles_api': ApiKey[]
  '/classement': Ranked[]
  '/classement/histogramme': Histogramme
  '/rubriques': Rubrique[]
  '/challenges': ChallengeItem[]
  '/challenges/{id}': Challenge
  '/challenges/{id}/validations': Validation[]
  '/challenges/{id}/progression': ChallengeProgression
  '/auteurs': Record<string, NamedAuteur>
  '/auteurs/{id}': Auteur
  '/auteurs/{id}/progression': AuteurProgression
  '/environnements_virtuels': EnvironnementItem[]
  '/environnements_virtuels/{id}': Environnement
  '/exploitation': Exploitation
}
