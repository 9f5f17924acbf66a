import { hash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'

/** What Palmarès keeps an idle connection for; node tells it in a header of each answer. */
export const KEEP_ALIVE_MILLISECONDS = 65_000

/** The `--portal-url` that Palmarès has without one. */
const PORTAL_URL = 'http://127.0.0.1:8080/portail/'
const UNKNOWN_DATE = 253_402_300_800
const FIRST_KEY = -Number.MAX_SAFE_INTEGER

/**
 * Two reads of the contract as one would write them by hand for the same store: node:http, prepared statements, no
 * framework, no checks, no cache, nothing that the two reads do not need. Rows come as one JSON text, which this driver
 * reads faster than rows; each answer is made in one snapshot, as Palmarès does.
 */
export function handWritten(file: string): Server {
  const db = new DatabaseSync(file, { readOnly: true })
  db.exec('pragma cache_size = -32768; pragma mmap_size = 268435456')
  const begin = db.prepare('begin')
  const commit = db.prepare('commit')
  const ranking = rankingReader(db)
  const author = authorReader(db)
  let count = 0

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MILLISECONDS }, (request, response) => {
    const url = request.url as string
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    begin.run()
    let answer: Answer | undefined
    if (path === '/classement') answer = ranking(new URLSearchParams(url.slice(mark + 1)), request.headers.host ?? '')
    else if (path.startsWith('/auteurs/')) answer = author(Number(path.slice(9)))
    commit.run()
    if (!answer) {
      response.writeHead(404, { 'content-length': 0 }).end()
      return
    }
    const body = toBuffer(answer.body)
    const headers = [
      ...['x-request-id', `hand-${(count++).toString(36)}`, 'api-version', '1', 'x-content-type-options', 'nosniff'],
      ...['ratelimit-policy', '"compte";q=1000000000;w=60', 'ratelimit', '"compte";r=999999999;t=60'],
      ...['etag', `"${hash('sha256', body, 'base64url').slice(0, 27)}"`, 'cache-control', 'private, no-cache'],
    ]
    if (answer.link !== undefined) headers.push('link', answer.link, 'x-total-count', String(answer.total))
    headers.push('content-type', 'application/json; charset=utf-8', 'content-length', String(body.length))
    response.writeHead(200, headers).end(body)
  })
  // This also keeps the connection: the driver's statements alone do not.
  return server.on('close', () => db.close())
}

interface Answer {
  body: unknown
  link?: string
  total?: number
}

type Row = (string | number)[]
type Rows = (...values: number[]) => Row[]

function rankingReader(db: DatabaseSyncInstance): (query: URLSearchParams, host: string) => Answer {
  const selectTotal = valueReader(db, "select sum(nb) from noeuds where arbre = 'classement' and niveau = 3")
  const selectNodes = rowsReader(
    db,
    `select cle, id, nb from noeuds where arbre = 'classement' and niveau = ? and (cle, id) >= (?, ?)
     order by cle, id limit 64`,
    ['cle', 'id', 'nb'],
  )
  const selectPage = rowsReader(
    db,
    `select id_auteur, nom, -cle_classement as score from auteurs where (cle_classement, id_auteur) >= (?, ?)
     order by cle_classement, id_auteur limit ? offset ?`,
    ['id_auteur', 'nom', 'score'],
  )
  const placeOf = placeReader(db)

  return (query, host) => {
    const debut = Number(query.get('debut_classement') ?? 0)
    const limite = Number(query.get('limite') ?? 100)
    const total = selectTotal()
    const start = seek(selectNodes, debut)
    const rows = start ? selectPage(start[0], start[1], limite, start[2]) : []
    let place = rows[0] ? placeOf(Number(rows[0][2])) : 0
    const body = rows.map(([id, nom, score], index) => {
      if (index > 0 && score !== rows[index - 1]?.[2]) place = debut + index + 1
      return { place, nom, score: String(score), id_auteur: String(id) }
    })
    const link = (rel: string, row: number) =>
      `<http://${host}/classement?limite=${limite}&debut_classement=${row}>; rel="${rel}"`
    const links = [link('first', 0)]
    if (debut > 0) links.push(link('prev', Math.max(0, debut - limite)))
    if (debut + limite < total) links.push(link('next', debut + limite))
    links.push(link('last', Math.floor((total - 1) / limite) * limite))
    return { body, link: links.join(', '), total }
  }
}

/** Goes down the counted tree to the leaf of a row: where the leaf begins, and the rows to pass from there. */
function seek(selectNodes: Rows, row: number): [cle: number, id: number, rest: number] | undefined {
  let cle = FIRST_KEY
  let id = 0
  let rest = row
  for (let level = 3; level >= 0; level--) {
    const node = selectNodes(level, cle, id).find((each) => {
      if (rest < Number(each[2])) return true
      rest -= Number(each[2])
      return false
    })
    if (!node) return undefined
    cle = Number(node[0])
    id = Number(node[1])
  }
  return [cle, id, rest]
}

/** The place of a score: what lies before its leaf, from the tree, then the rest of the leaf, from the index. */
function placeReader(db: DatabaseSyncInstance): (score: number) => number {
  const floor = (level: number) =>
    `(select cle, id from noeuds where arbre = 'classement' and niveau = ${level} and (cle, id) <= (?1, 0)
      order by cle desc, id desc limit 1) f${level}`
  const between = (level: number, from: string) =>
    `(select coalesce(sum(nb), 0) from noeuds where arbre = 'classement' and niveau = ${level} ${from}
      and (cle, id) < (f${level}.cle, f${level}.id))`
  const from = (level: number) => `and (cle, id) >= (f${level}.cle, f${level}.id)`
  const selectLeaf = db.prepare(
    `select f0.cle, f0.id, ${between(3, '')} + ${between(2, from(3))} + ${between(1, from(2))} + ${between(0, from(1))}
     from ${[3, 2, 1, 0].map(floor).join(', ')}`,
  )
  selectLeaf.setReturnArrays(true)
  const countBefore = valueReader(
    db,
    'select count(*) from auteurs where (cle_classement, id_auteur) >= (?, ?) and (cle_classement, id_auteur) < (?, 0)',
  )
  return (score) => {
    const [cle, id, before] = selectLeaf.get(-score) as unknown as [number, number, number]
    return before + countBefore(cle, id, -score) + 1
  }
}

function authorReader(db: DatabaseSyncInstance): (id: number) => Answer | undefined {
  const selectAuthor = db.prepare(
    'select id_auteur, nom, score, statut, lang, nb_validations from auteurs where id_auteur = ?',
  )
  selectAuthor.setReturnArrays(true)
  const selectWritten = rowsReader(
    db,
    `select c.id_challenge, c.url_challenge, c.titre from challenges_auteurs join challenges c using (id_challenge)
     where id_auteur = ? order by c.id_challenge`,
    ['id_challenge', 'url_challenge', 'titre'],
  )
  const selectSolved = rowsReader(
    db,
    `select c.id_challenge, c.titre, c.id_rubrique, c.score, date from validations join challenges c using (id_challenge)
     where id_auteur = ? order by date = ${UNKNOWN_DATE}, date desc, c.id_challenge`,
    ['id_challenge', 'titre', 'id_rubrique', 'score', 'date'],
  )
  const placeOf = placeReader(db)

  return (id) => {
    const row = selectAuthor.get(id) as unknown as [number, string, number, string, string, number] | undefined
    if (!row) return undefined
    const [idAuteur, nom, score, statut, lang, solved] = row
    const body = {
      nom,
      score,
      position: placeOf(score),
      challenges: selectWritten(id).map(([id_challenge, url, titre]) => ({
        id_challenge,
        url_challenge: PORTAL_URL + url,
        titre,
      })),
      id_auteur: String(idAuteur),
      statut,
      lang,
      nb_validations: solved,
      validations: selectSolved(id).map(([id_challenge, titre, id_rubrique, points, date]) => ({
        id_challenge,
        titre,
        id_rubrique,
        score: points,
        date: date === UNKNOWN_DATE ? null : `${new Date(Number(date) * 1000).toISOString().slice(0, 19)}Z`,
      })),
    }
    return { body }
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

function toBuffer(body: unknown): Buffer {
  const text = JSON.stringify(body).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return Buffer.from(text, 'latin1')
}
