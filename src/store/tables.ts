import type { KindTables } from '../model/kinds.js'

/**
 * The tables of a portal, as both engines have them: those of the kinds of records, and those that the program keeps beside
 * them. Columns carry the wire's French names. Instants are whole seconds since 1970-01-01T00:00:00Z, booleans are 0 and 1.
 */
export interface Tables extends KindTables {
  /**
   * One row: the current versions. Each grows with every change of its kind. That of the data is the cursor of the newest
   * line of the journal.
   */
  etat: {
    id: number
    version_donnees: number
    version_comptes: number
    /** How many lines the journal holds. */
    journal_lignes: number
    /** When the last import changed something; null before the first that this schema has seen. */
    dernier_import: number | null
  }
  /** A group that a ranked author has, spelled as the one with the lowest id has it. */
  groupes: { groupe_cle: string; nom: string; nom_plie: string; nb_auteurs: number }
  /** A setting that is not at its default; see `model/store-settings.ts`. */
  reglages: {
    nom: string
    /** JSON. */
    valeur: string
  }
  challenges_auteurs: { id_challenge: number; id_auteur: number }
  /**
   * A validation that is not shown while the setting `gel` is set. Its author and its challenge may be gone. Never one that
   * `validations` has too.
   */
  validations_gelees: { id_auteur: number; id_challenge: number; date: number }
  sessions: {
    empreinte: string
    id_compte: number
    creation: number
    derniere_utilisation: number
    revocation: number | null
    /** The key that it was made from and ends with; null where a password made it. */
    id_cle: number | null
  }
  cles_api: {
    id_cle: number
    id_compte: number
    nom: string
    prefixe: string
    empreinte: string
    /** Scopes, separated by one space. */
    portee: string
    creation: number
    expiration: number
    derniere_utilisation: number | null
    revocation: number | null
  }
  /** A credential that a version of the accounts ended; see `ended.ts`. */
  acces_finis: {
    version: number
    /** The version before it. */
    precedente: number
    /** The SHA-256 of the credential; empty where any may have changed. */
    empreinte: string
  }
  /** An address from which an account signed in with its password. */
  adresses_connues: {
    id_compte: number
    /** A hash of the account's login and the address. */
    adresse: string
    /** When it last did; renewed once a day at most. */
    vue: number
  }
  /** One node of a counted order: how many entries lie between its key and the next node's key on its level. */
  noeuds: {
    arbre: string
    niveau: number
    cle: number
    date: number
    id: number
    nb: number
  }
  /** An entry of a ranking by category or by period: an author who has a validation there. */
  classements: {
    /** Which ranking: a category's id negated, a year as 202600, or a month as 202601. */
    classement: number
    /** The points earned there, negated. */
    cle: number
    /** When they were reached, if dates break ties; else 0. */
    date: number
    id_auteur: number
  }
  /** What changed, in the order in which it was committed; see `journal.ts`. */
  journal: {
    curseur: number
    /** When it was applied. */
    date: number
    type: string
    /** 1 where the record was removed. */
    supprime: number
    id_auteur: number | null
    id_challenge: number | null
    id_rubrique: number | null
    /** For a move of ranks: the keys between which each counted order changed, as JSON. */
    rangs: string | null
  }
  /** The one row of a store that copies another portal: which, and how far. */
  miroir: {
    id: number
    adresse: string
    /** How the other side speaks; null until it has answered. */
    dialecte: string | null
    /** What the copy depends on besides the other side: the portal's page address, whom it follows. */
    reglage: string
    /** The number of the pass under way, or of the last one. */
    passe: number
    /** 0, or a random number of the mirror whose pass is unfinished. */
    en_cours: number
    /** When the pass last got something into the store. */
    activite: number
  }
  /** What one address of the other side last answered. */
  miroir_ressources: {
    /** Under the address of the other side: `/auteurs/12`. */
    chemin: string
    etag: string | null
    /** The pass that last asked for it. */
    passe: number
    /** Values derived from this answer and other records. If they changed, the address is read again. */
    lecture: string
    /** Of a page of a list: the ids that it names and where the next one begins, as JSON. */
    contenu: string | null
  }
}
