import { createServer, type Server } from 'node:http'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import {
  type Answer,
  type AskedAuthor,
  type AskedPage,
  AUTHOR_COLUMNS,
  authorAnswer,
  KEEP_ALIVE_MILLISECONDS,
  leafSql,
  pageAnswer,
  type Row,
  readRequest,
  SOLVED_COLUMNS,
  send,
  UNKNOWN_DATE,
  WRITTEN_COLUMNS,
} from './handwritten.js'

const FIRST_KEY = -Number.MAX_SAFE_INTEGER

/**
 * Two reads of the API, hand-written for the same store: node:http and prepared statements, without a framework, checks or
 * a cache. As in Palmarès, rows are read as one JSON text, which is faster with this driver, and each response uses one
 * snapshot.
 */
export function handWrittenOnSqlite(file: string): Server {
  const db = new DatabaseSync(file, { readOnly: true })
  db.exec('pragma cache_size = -4096; pragma mmap_size = 2147418112')
  const begin = db.prepare('begin')
  const commit = db.prepare('commit')
  const readPage = pageReader(db)
  const readAuthor = authorReader(db)

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MILLISECONDS }, (request, response) => {
    const asked = readRequest(request)
    begin.run()
    const answer = asked && ('id' in asked ? readAuthor(asked) : readPage(asked))
    commit.run()
    send(response, answer)
  })
  // This also keeps the connection: the driver's statements alone do not.
  return server.on('close', () => db.close())
}

type Rows = (...values: number[]) => Row[]

function pageReader(db: DatabaseSyncInstance): (asked: AskedPage) => Answer {
  const selectTotal = valueReader(db, "select sum(nb) from noeuds where arbre = 'classement' and niveau = 3")
  const selectNodes = rowsReader(
    db,
    `select cle, date, id, nb from noeuds where arbre = 'classement' and niveau = ? and (cle, date, id) >= (?, ?, ?)
     order by cle, date, id limit 64`,
    ['cle', 'date', 'id', 'nb'],
  )
  const selectPage = rowsReader(
    db,
    `select id_auteur, nom, -cle_classement as score from auteurs
     where (cle_classement, date_classement, id_auteur) >= (?, ?, ?)
     order by cle_classement, date_classement, id_auteur limit ? offset ?`,
    ['id_auteur', 'nom', 'score'],
  )
  const placeOf = placeReader(db)

  return (asked) => {
    const total = selectTotal()
    const start = seek(selectNodes, asked.debut)
    const rows = start ? selectPage(start[0], start[1], start[2], asked.limite, start[3]) : []
    return pageAnswer(asked, total, rows, rows[0] ? placeOf(Number(rows[0][2])) : 0)
  }
}

/** Descends the counted tree to the leaf of a row. Gives the start of the leaf and the number of rows to skip. */
function seek(selectNodes: Rows, row: number): [cle: number, date: number, id: number, rest: number] | undefined {
  let cle = FIRST_KEY
  let date = FIRST_KEY
  let id = 0
  let rest = row
  for (let level = 3; level >= 0; level--) {
    const node = selectNodes(level, cle, date, id).find((each) => {
      if (rest < Number(each[3])) return true
      rest -= Number(each[3])
      return false
    })
    if (!node) return undefined
    cle = Number(node[0])
    date = Number(node[1])
    id = Number(node[2])
  }
  return [cle, date, id, rest]
}

/** The place of a score: the entries before its leaf, from the tree, plus the rest of the leaf, from the index. */
function placeReader(db: DatabaseSyncInstance): (score: number) => number {
  const { nodes, before } = leafSql('?1')
  const selectLeaf = db.prepare(`select f0.cle, f0.date, f0.id, ${before} from ${nodes.join(', ')}`)
  selectLeaf.setReturnArrays(true)
  const countBefore = valueReader(
    db,
    `select count(*) from auteurs where (cle_classement, date_classement, id_auteur) >= (?, ?, ?)
     and (cle_classement, date_classement, id_auteur) < (?, 0, 0)`,
  )
  return (score) => {
    const [cle, date, id, before] = selectLeaf.get(-score) as unknown as [number, number, number, number]
    return before + countBefore(cle, date, id, -score) + 1
  }
}

function authorReader(db: DatabaseSyncInstance): (asked: AskedAuthor) => Answer | undefined {
  const selectAuthor = db.prepare(`select ${AUTHOR_COLUMNS} from auteurs where id_auteur = ?`)
  selectAuthor.setReturnArrays(true)
  const selectWritten = rowsReader(
    db,
    `select c.id_challenge, c.url_challenge, c.titre from challenges_auteurs join challenges c using (id_challenge)
     where id_auteur = ? order by c.id_challenge`,
    WRITTEN_COLUMNS,
  )
  const selectSolved = rowsReader(
    db,
    `select c.id_challenge, c.titre, c.id_rubrique, c.score, date from validations join challenges c using (id_challenge)
     where id_auteur = ? order by date = ${UNKNOWN_DATE}, date desc, c.id_challenge`,
    SOLVED_COLUMNS,
  )
  const placeOf = placeReader(db)

  return ({ id }) => {
    const row = selectAuthor.get(id) as unknown as Row | undefined
    return row && authorAnswer(row, placeOf(Number(row[2])), selectWritten(id), selectSolved(id))
  }
}

function rowsReader(db: DatabaseSyncInstance, sql: string, columns: string[]): Rows {
  const statement = db.prepare(`select json_group_array(json_array(${columns.join(', ')})) from (${sql})`)
  statement.setReturnArrays(true)
  return (...values) => JSON.parse((statement.get(...values) as unknown as [string])[0])
}

function valueReader(db: DatabaseSyncInstance, sql: string): (...values: number[]) => number {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return (...values) => Number((statement.get(...values) as unknown as [number | null])[0])
}
