import { formatInstant } from '../instant.js'
import type { Db } from '../store/store.js'
import {
  type AuteurTable,
  type ChallengeTable,
  type CleApiTable,
  type CompteTable,
  type EnvironnementVirtuelTable,
  type RubriqueTable,
  UNKNOWN_DATE,
  type ValidationTable,
} from '../store/tables.js'

/** Rows read at a time, whatever the table. */
const CHUNK_ROWS = 2_000

type DumpLine = Record<string, unknown>

/**
 * The portal as dump lines, each with its newline, in an order that an import can read as it comes. Unknown fields are
 * left out. Inside one `read` the whole export shows one version of the data.
 */
export async function* exportLines(db: Db, options: { withAccounts: boolean }): AsyncGenerator<string> {
  yield* exportTable<RubriqueTable>(db, 'rubriques', ['id_rubrique'], presentRubriques)
  yield* exportTable<AuteurTable>(db, 'auteurs', ['id_auteur'], (rows) => presentAuteurs(db, rows))
  yield* exportTable<ChallengeTable>(db, 'challenges', ['id_challenge'], (rows) => presentChallenges(db, rows))
  yield* exportTable<ValidationTable>(db, 'validations', ['id_auteur', 'id_challenge'], presentValidations)
  yield* exportTable<EnvironnementVirtuelTable>(
    db,
    'environnements_virtuels',
    ['id_environnement_virtuel'],
    presentEnvironnements,
  )
  if (options.withAccounts) {
    yield* exportTable<CompteTable>(db, 'comptes', ['login'], (rows) => presentComptes(db, rows), '')
  }
}

/** Walks a table by its key, a chunk at a time; `before` comes before every value of the key. */
async function* exportTable<R>(
  db: Db,
  table: string,
  key: readonly (keyof R & string)[],
  present: (rows: R[]) => DumpLine[] | Promise<DumpLine[]>,
  before: number | string = 0,
): AsyncGenerator<string> {
  const list = key.join(', ')
  const placeholders = key.map(() => '?').join(', ')
  let last: unknown[] = key.map(() => before)
  for (;;) {
    const rows = await db.select<R>(
      `select * from ${table} where (${list}) > (${placeholders}) order by ${list} limit ${CHUNK_ROWS}`,
      ...last,
    )
    const end = rows.at(-1)
    if (!end) return
    const lines = await present(rows)
    yield lines.map((line) => `${JSON.stringify(known(line))}\n`).join('')
    last = key.map((column) => end[column])
  }
}

function presentRubriques(rows: RubriqueTable[]): DumpLine[] {
  return rows.map(({ id_rubrique, nom }) => ({ type: 'rubrique', id_rubrique, nom }))
}

/** A score held at 0 by a base below it says that base, as the score alone would lose it. */
async function presentAuteurs(db: Db, rows: AuteurTable[]): Promise<DumpLine[]> {
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

async function presentChallenges(db: Db, rows: ChallengeTable[]): Promise<DumpLine[]> {
  const written = await db.select<{ id_challenge: number; id_auteur: number }>(
    'select id_challenge, id_auteur from challenges_auteurs where id_challenge between ? and ? order by id_challenge, id_auteur',
    ...range(rows, 'id_challenge'),
  )
  const auteurs = groupBy(written, (row) => row.id_challenge)
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
    auteurs: (auteurs.get(row.id_challenge) ?? []).map(({ id_auteur }) => id_auteur),
  }))
}

function presentValidations(rows: ValidationTable[]): DumpLine[] {
  return rows.map(({ id_auteur, id_challenge, date }) => {
    return { type: 'validation', id_auteur, id_challenge, date: date === UNKNOWN_DATE ? null : instant(date) }
  })
}

function presentEnvironnements(rows: EnvironnementVirtuelTable[]): DumpLine[] {
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

async function presentComptes(db: Db, rows: CompteTable[]): Promise<DumpLine[]> {
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

function presentCle(row: CleApiTable): DumpLine {
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

function range<R>(rows: R[], column: keyof R): [unknown, unknown] {
  return [rows[0]?.[column], rows.at(-1)?.[column]]
}

function groupBy<R>(rows: R[], keyOf: (row: R) => number): Map<number, R[]> {
  const groups = new Map<number, R[]>()
  for (const row of rows) {
    const group = groups.get(keyOf(row))
    if (group) group.push(row)
    else groups.set(keyOf(row), [row])
  }
  return groups
}

function instant(seconds: number | null): string | null {
  return seconds === null ? null : formatInstant(seconds)
}

/** A record without what the portal does not know of it. */
function known(record: DumpLine): DumpLine {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null && value !== ''))
}
