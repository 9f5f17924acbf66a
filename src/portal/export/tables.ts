import { CLASSEMENT_WALK, placesInTurn } from '../../classement/rank.js'
import type { Db } from '../../store/store.js'
import type {
  AuteurTable,
  ChallengeTable,
  EnvironnementVirtuelTable,
  RubriqueTable,
  ValidationTable,
} from '../../store/tables.js'
import { auteursOf, instant, LONG_ROWS, presented, type Row, SHORT_ROWS, validationDate } from './rows.js'

/** A resource as a flat table, for spreadsheets and notebooks: typed values, null for what the portal does not know. */
export interface Table {
  columns: readonly string[]
  /** All rows, some at a time. */
  rows(db: Db): AsyncGenerator<Row[]>
}

export const RESSOURCES = [
  'rubriques',
  'challenges',
  'auteurs',
  'validations',
  'classement',
  'environnements_virtuels',
] as const
export type Ressource = (typeof RESSOURCES)[number]

export const tables: Record<Ressource, Table> = {
  rubriques: {
    columns: ['id_rubrique', 'nom', 'nb_challenges'],
    rows: (db) =>
      presented<RubriqueTable>(db, byId('rubriques', 'id_rubrique'), (_, rows) =>
        rows.map(({ id_rubrique, nom, nb_challenges }) => ({ id_rubrique, nom, nb_challenges })),
      ),
  },
  challenges: {
    columns: [
      'id_challenge',
      'titre',
      'soustitre',
      'lang',
      'score',
      'id_rubrique',
      'rubrique',
      'difficulte',
      'id_trad',
      'url_challenge',
      'date_publication',
      'nb_validations',
      'auteurs',
      'descriptif',
    ],
    rows: (db) => presented(db, challenges, presentChallenges),
  },
  auteurs: {
    columns: ['id_auteur', 'nom', 'statut', 'lang', 'score', 'nb_validations'],
    rows: (db) =>
      presented<AuteurTable>(db, byId('auteurs', 'id_auteur'), (_, rows) =>
        rows.map(({ id_auteur, nom, statut, lang, score, nb_validations }) => {
          return { id_auteur, nom, statut: orNull(statut), lang: orNull(lang), score, nb_validations }
        }),
      ),
  },
  validations: {
    columns: ['id_auteur', 'id_challenge', 'date'],
    rows: (db) =>
      presented<ValidationTable>(db, byId('validations', 'id_auteur', 'id_challenge'), (_, rows) =>
        rows.map(({ id_auteur, id_challenge, date }) => ({ id_auteur, id_challenge, date: validationDate(date) })),
      ),
  },
  classement: {
    columns: ['place', 'id_auteur', 'nom', 'score'],
    rows(db) {
      const place = placesInTurn()
      return presented<AuteurTable>(db, { ...CLASSEMENT_WALK, rows: SHORT_ROWS }, (_, rows) =>
        rows.map(({ id_auteur, nom, score }) => ({ place: place({ score }), id_auteur, nom, score })),
      )
    },
  },
  environnements_virtuels: {
    columns: [
      'id_environnement_virtuel',
      'nom',
      'os',
      'statut',
      'lang',
      'description_fr',
      'description_en',
      'time_to_root',
    ],
    rows: (db) => presented(db, environnements, presentEnvironnements),
  },
}

function byId(from: string, ...key: string[]) {
  return { columns: '*', from, key, after: key.map(() => 0), rows: SHORT_ROWS }
}

const environnements = { ...byId('environnements_virtuels', 'id_environnement_virtuel'), rows: LONG_ROWS }

const challenges = {
  ...byId('challenges c join rubriques r on r.id_rubrique = c.id_rubrique', 'c.id_challenge'),
  columns: 'c.*, r.nom as rubrique',
  rows: LONG_ROWS,
}

async function presentChallenges(db: Db, rows: (ChallengeTable & { rubrique: string })[]): Promise<Row[]> {
  const auteurs = await auteursOf(db, rows)
  return rows.map((row) => ({
    id_challenge: row.id_challenge,
    titre: row.titre,
    soustitre: orNull(row.soustitre),
    lang: orNull(row.lang),
    score: row.score,
    id_rubrique: row.id_rubrique,
    rubrique: row.rubrique,
    difficulte: orNull(row.difficulte),
    id_trad: row.id_trad,
    url_challenge: orNull(row.url_challenge),
    date_publication: instant(row.date_publication),
    nb_validations: row.nb_validations,
    auteurs: auteurs(row),
    descriptif: orNull(row.descriptif),
  }))
}

function presentEnvironnements(_: Db, rows: EnvironnementVirtuelTable[]): Row[] {
  return rows.map((row) => ({
    id_environnement_virtuel: row.id_environnement_virtuel,
    nom: row.nom,
    os: orNull(row.os),
    statut: orNull(row.statut),
    lang: orNull(row.lang),
    description_fr: orNull(row.description_fr),
    description_en: orNull(row.description_en),
    time_to_root: row.time_to_root,
  }))
}

/** What the store keeps as an empty text, the portal does not know. */
function orNull(text: string): string | null {
  return text === '' ? null : text
}
