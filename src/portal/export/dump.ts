import type { Db } from '../../store/store.js'
import type {
  AuteurTable,
  ChallengeTable,
  CleApiTable,
  CompteTable,
  EnvironnementVirtuelTable,
  RubriqueTable,
  ValidationTable,
} from '../../store/tables.js'
import {
  auteursOf,
  groupBy,
  instant,
  LONG_ROWS,
  type Present,
  presented,
  type Row,
  range,
  SHORT_ROWS,
  validationDate,
} from './rows.js'

/**
 * The portal as records of the dump, some at a time, in an order that an import can read as it comes. Unknown fields are left
 * out. Inside one snapshot the whole shows one version of the data.
 */
export async function* dumpRecords(db: Db, { withAccounts }: { withAccounts: boolean }): AsyncGenerator<Row[]> {
  yield* records(db, 'rubriques', ['id_rubrique'], SHORT_ROWS, presentRubriques)
  yield* records(db, 'auteurs', ['id_auteur'], SHORT_ROWS, presentAuteurs)
  yield* records(db, 'challenges', ['id_challenge'], LONG_ROWS, presentChallenges)
  yield* records(db, 'validations', ['id_auteur', 'id_challenge'], SHORT_ROWS, presentValidations)
  yield* records(db, 'environnements_virtuels', ['id_environnement_virtuel'], LONG_ROWS, presentEnvironnements)
  if (withAccounts) yield* records(db, 'comptes', ['login'], SHORT_ROWS, presentComptes, '')
}

/** Records of a table by its key; `before` comes before every value of it. */
function records<R>(
  db: Db,
  table: string,
  key: readonly (keyof R & string)[],
  rows: number,
  present: Present<R>,
  before: number | string = 0,
): AsyncGenerator<Row[]> {
  const walk = { columns: '*', from: table, key, after: key.map(() => before), rows }
  return presented<R>(db, walk, async (db, found) => (await present(db, found)).map(known))
}

function presentRubriques(_: Db, rows: RubriqueTable[]): Row[] {
  return rows.map(({ id_rubrique, nom }) => ({ type: 'rubrique', id_rubrique, nom }))
}

/** A score held at 0 by a base below it says that base, as the score alone would lose it. */
async function presentAuteurs(db: Db, rows: AuteurTable[]): Promise<Row[]> {
  const points = await db.select<{ id_auteur: number; points: number }>(
    `select v.id_auteur, sum(c.score) as points from validations v join challenges c on c.id_challenge = v.id_challenge
     where v.id_auteur between ? and ? group by v.id_auteur`,
    ...range(rows, 'id_auteur'),
  )
  const earned = new Map(points.map((row) => [row.id_auteur, row.points]))
  return rows.map(({ id_auteur, nom, statut, lang, score, base }) => {
    const isHeldAtZero = base + (earned.get(id_auteur) ?? 0) < 0
    return { type: 'auteur', id_auteur, nom, statut, lang, score, score_base: isHeldAtZero ? base : null }
  })
}

async function presentChallenges(db: Db, rows: ChallengeTable[]): Promise<Row[]> {
  const auteurs = await auteursOf(db, rows)
  return rows.map((row) => ({
    type: 'challenge',
    id_challenge: row.id_challenge,
    id_rubrique: row.id_rubrique,
    titre: row.titre,
    soustitre: row.soustitre,
    descriptif: row.descriptif,
    lang: row.lang,
    score: row.score,
    difficulte: row.difficulte,
    id_trad: row.id_trad,
    url_challenge: row.url_challenge,
    date_publication: instant(row.date_publication),
    auteurs: auteurs(row),
  }))
}

function presentValidations(_: Db, rows: ValidationTable[]): Row[] {
  return rows.map(({ id_auteur, id_challenge, date }) => {
    return { type: 'validation', id_auteur, id_challenge, date: validationDate(date) }
  })
}

function presentEnvironnements(_: Db, rows: EnvironnementVirtuelTable[]): Row[] {
  return rows.map((row) => ({
    type: 'environnement_virtuel',
    id_environnement_virtuel: row.id_environnement_virtuel,
    nom: row.nom,
    os: row.os,
    statut: row.statut,
    lang: row.lang,
    description_fr: row.description_fr,
    description_en: row.description_en,
    time_to_root: row.time_to_root,
  }))
}

async function presentComptes(db: Db, rows: CompteTable[]): Promise<Row[]> {
  const keys = await db.select<CleApiTable>(
    `select * from cles_api where id_compte in (select id_compte from comptes where login between ? and ?)
     and revocation is null order by id_cle`,
    ...range(rows, 'login'),
  )
  const cles = groupBy(keys, (key) => key.id_compte)
  return rows.map((row) => ({
    type: 'compte',
    login: row.login,
    id_auteur: row.id_auteur,
    mot_de_passe: row.mot_de_passe,
    operateur: row.operateur === 1,
    desactive: row.desactive === 1,
    creation: instant(row.creation),
    cles: (cles.get(row.id_compte) ?? []).map(presentCle),
  }))
}

function presentCle(row: CleApiTable): Row {
  return known({
    id: row.id_cle,
    nom: row.nom,
    prefixe: row.prefixe,
    empreinte: row.empreinte,
    portee: row.portee.split(' '),
    creation: instant(row.creation),
    expiration: instant(row.expiration),
    derniere_utilisation: instant(row.derniere_utilisation),
  })
}

/** A record without what the portal does not know of it. */
function known(record: Row): Row {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null && value !== ''))
}
