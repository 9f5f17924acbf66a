import { createReadStream } from 'node:fs'
import { DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from '@photostructure/sqlite'
import { orderWriter, Points } from './bare-orders.js'
import { UNKNOWN_DATE } from './handwritten.js'

/**
 * The minimal work to fill a store. Parses each line and inserts it with a prepared statement, in one transaction, into the
 * same tables, indexes and search tables as Palmarès. Then derives scores, counts and orders from sums in memory. There are
 * no checks and no staging, and the lines must be in order.
 */
async function bareImport(dump: string, file: string): Promise<void> {
  const db = new DatabaseSync(file)
  db.exec('pragma synchronous = full; pragma cache_size = -65536; begin')
  const points = new Points()
  const inserts = prepareInserts(db, points)
  let rest = ''
  for await (const chunk of createReadStream(dump, { encoding: 'utf8', highWaterMark: 256 * 1024 })) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() as string
    for (const line of lines) {
      const record = JSON.parse(line)
      inserts[record.type as string]?.(record)
    }
  }
  for (const sql of totals) db.exec(sql)
  fillOrders(db, points)
  db.exec('update etat set version_donnees = version_donnees + 1; commit; pragma wal_checkpoint(truncate)')
  db.close()
}

type Line = Record<string, string> & Record<'id_auteur' | 'id_challenge' | 'id_rubrique' | 'score', number>

function prepareInserts(db: DatabaseSyncInstance, points: Points): Record<string, (line: Line) => void> {
  const insert = (table: string, columns: string): StatementSyncInstance =>
    db.prepare(`insert into ${table} (${columns}) values (${columns.replace(/\w+/g, '?')})`)
  const rubrique = insert('rubriques', 'id_rubrique, nom')
  const auteur = insert('auteurs', 'id_auteur, nom, nom_plie, statut, statut_cle, lang, lang_cle')
  const challenge = insert(
    'challenges',
    'id_challenge, id_rubrique, titre, titre_plie, soustitre, soustitre_plie, lang, lang_cle, score, difficulte, id_trad, ' +
      'url_challenge, date_publication, descriptif',
  )
  const written = insert('challenges_auteurs', 'id_challenge, id_auteur')
  const validation = insert('validations', 'id_auteur, id_challenge, date, mois')
  const environnement = insert(
    'environnements_virtuels',
    'id_environnement_virtuel, nom, nom_plie, os, os_cle, statut, lang, description_fr, description_en, time_to_root',
  )
  const hidden = new Set<number>()
  const challenges = new Map<number, Line>()
  return {
    rubrique: (a) => rubrique.run(a.id_rubrique, a.nom!),
    auteur: (a) => {
      if (a.statut === '5poubelle') hidden.add(a.id_auteur)
      auteur.run(a.id_auteur, a.nom!, fold(a.nom!), a.statut!, lower(a.statut!), a.lang!, lower(a.lang!))
    },
    challenge: (a) => {
      challenges.set(a.id_challenge, a)
      const texts = [a.titre!, fold(a.titre!), a.soustitre!, fold(a.soustitre!), a.lang!, lower(a.lang!)]
      const rest = [a.score, a.difficulte!, a.id_trad!, a.url_challenge!, secondsOf(a.date_publication!), a.descriptif!]
      challenge.run(a.id_challenge, a.id_rubrique, ...texts, ...rest)
      for (const id of a.auteurs as unknown as number[]) written.run(a.id_challenge, id)
    },
    validation: (a) => {
      const mois = a.date ? monthOf(a.date) : null
      validation.run(a.id_auteur, a.id_challenge, a.date ? secondsOf(a.date) : UNKNOWN_DATE, mois)
      const { score, id_rubrique } = challenges.get(a.id_challenge) as Line
      if (hidden.has(a.id_auteur)) return
      for (const ranking of [-id_rubrique, ...(mois ? [mois - (mois % 100), mois] : [])])
        points.add(ranking, a.id_auteur, score)
    },
    environnement_virtuel: (a) => {
      const texts = [
        a.nom!,
        fold(a.nom!),
        a.os!,
        lower(a.os!),
        a.statut!,
        a.lang!,
        a.description_fr!,
        a.description_en!,
      ]
      environnement.run(a.id_environnement_virtuel!, ...texts, a.time_to_root!)
    },
  }
}

const totals = [
  `update auteurs set score = n.score, nb_validations = n.nb from (
     select v.id_auteur, sum(c.score) as score, count(*) as nb
     from validations v join challenges c on c.id_challenge = v.id_challenge group by v.id_auteur
   ) as n where n.id_auteur = auteurs.id_auteur`,
  `update auteurs set cle_classement = -score where statut_cle <> '5poubelle'`,
  `update challenges set nb_validations =
     (select count(*) from validations v where v.id_challenge = challenges.id_challenge)`,
  `update rubriques set nb_challenges =
     (select count(*) from challenges c where c.id_rubrique = rubriques.id_rubrique)`,
]

/** Writes the rankings by category and period, and the counted orders, from their sorted keys. */
function fillOrders(db: DatabaseSyncInstance, points: Points): void {
  const write = orderWriter(db)
  const select = (sql: string, ...values: number[]) => {
    const statement = db.prepare(sql)
    statement.setReturnArrays(true)
    return statement.iterate(...values) as Iterable<unknown> as Iterable<[cle: number, id: number]>
  }
  const entry = db.prepare('insert into classements (classement, cle, date, id_auteur) values (?, ?, 0, ?)')
  for (const ranking of points.rankings()) {
    const keys = points.ranked(ranking)
    for (const [cle, id] of keys) entry.run(ranking, cle, id)
    write(`classements/${ranking}`, keys)
  }
  write(
    'classement',
    select('select cle_classement, id_auteur from auteurs where cle_classement is not null order by 1, 2'),
  )
  write('auteurs', select('select 0, id_auteur from auteurs order by 2'))
  write('challenges', select('select 0, id_challenge from challenges order by 2'))
  write('environnements_virtuels', select('select 0, id_environnement_virtuel from environnements_virtuels order by 2'))
  for (const [id] of select('select distinct id_challenge, 0 from validations'))
    write(
      `validations/${id}`,
      select('select date, id_auteur from validations where id_challenge = ? order by 1, 2', id),
    )
}

function fold(text: string): string {
  return /^[\x00-\x7f]*$/.test(text) ? text.toLowerCase() : text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
}

function lower(text: string): string {
  return text.toLowerCase()
}

function secondsOf(date: string): number {
  return Date.parse(date) / 1000
}

function monthOf(date: string): number {
  return Number(date.slice(0, 4)) * 100 + Number(date.slice(5, 7))
}

if (process.argv[1] === import.meta.filename) await bareImport(process.argv[2] as string, process.argv[3] as string)
