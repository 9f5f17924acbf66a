import { createServer, type Server } from 'node:http'
import pg, { type PoolClient, type QueryArrayConfig } from 'pg'
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
  send,
  UNKNOWN_DATE,
} from './handwritten.js'

/** The default of `--database-connections`. */
const CONNECTIONS = 10

const INT8 = 20
const NUMERIC = 1700
const FIRST_KEY = -Number.MAX_SAFE_INTEGER

/**
 * The same two reads on PostgreSQL: prepared statements, one snapshot per request, and pipelined queries that only wait for
 * results they need.
 */
export function handWrittenOnPostgres(url: string): Server {
  const pool = makePool(url)
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MILLISECONDS }, async (request, response) => {
    const asked = readRequest(request)
    if (!asked) return send(response, undefined)
    const db = await pool.connect()
    db.query('begin isolation level repeatable read')
    const answer = await ('id' in asked ? readAuthor(db, asked) : readPage(db, asked))
    db.release()
    send(response, answer)
  })
  return server.on('close', () => pool.end())
}

/** Queries are pipelined. All integers fit a number. */
function makePool(url: string): pg.Pool {
  const parserOf = (oid: number) => (oid === INT8 || oid === NUMERIC ? Number : pg.types.getTypeParser(oid))
  const questions = { options: PLANS, pipeline: true, types: { getTypeParser: parserOf as never } }
  return new pg.Pool({ connectionString: url, max: CONNECTIONS, idleTimeoutMillis: 0, ...questions })
}

/**
 * Forces generic plans: PostgreSQL would replan some of these statements each time, which takes longer than running them. Also
 * disables JIT and parallel workers, which it starts when it overestimates the rows of a large table.
 */
const PLANS = '-c plan_cache_mode=force_generic_plan -c jit=off -c max_parallel_workers_per_gather=0'

/** Sends the last query of a request together with the end of its transaction. The response does not wait for that end. */
function commit(db: PoolClient): void {
  db.query('commit')
}

async function readPage(db: PoolClient, asked: AskedPage): Promise<Answer> {
  const total = value(db, selectTotal)
  const rows = await select(db, selectPage, asked.debut, asked.limite)
  const place = rows[0] ? value(db, selectPlace, -Number(rows[0][2])) : 0
  commit(db)
  return pageAnswer(asked, await total, rows, await place)
}

async function readAuthor(db: PoolClient, { id }: AskedAuthor): Promise<Answer | undefined> {
  const found = Promise.all([
    select(db, selectAuthor, id),
    value(db, selectPlaceOfAuthor, id),
    select(db, selectWritten, id),
    select(db, selectSolved, id),
  ])
  commit(db)
  const [[row], place, written, solved] = await found
  return row && authorAnswer(row, place, written, solved)
}

interface Named {
  name: string
  text: string
}

const selectTotal: Named = {
  name: 'total',
  text: "select sum(nb) from noeuds where arbre = 'classement' and niveau = 3",
}

/** Descends the counted tree to the leaf of a row, then scans the index: one query instead of five. */
const selectPage: Named = {
  name: 'page',
  text: `select page.* from (select ${FIRST_KEY} as cle, ${FIRST_KEY} as date, 0 as id, $1::bigint as rest) f4,
    ${[3, 2, 1, 0].map(childSql).join(', ')},
    lateral (select id_auteur, nom, -cle_classement as score from auteurs
      where (cle_classement, date_classement, id_auteur) >= (f0.cle, f0.date, f0.id)
      order by cle_classement, date_classement, id_auteur limit $2 offset f0.rest) page`,
}

/** The node of a level that contains row `rest`, counted from its parent. */
function childSql(level: number): string {
  const above = `f${level + 1}`
  return `lateral (select cle, date, id, rest from (
      select cle, date, id, nb, ${above}.rest - sum(nb) over (order by cle, date, id) + nb as rest
      from (select cle, date, id, nb from noeuds where arbre = 'classement' and niveau = ${level}
        and (cle, date, id) >= (${above}.cle, ${above}.date, ${above}.id) order by cle, date, id limit 64) child
    ) counted where rest >= 0 and rest < nb) f${level}`
}

const selectPlace: Named = { name: 'place', text: placeSql('select $1::bigint as cle') }
const selectPlaceOfAuthor: Named = {
  name: 'place-of-author',
  text: placeSql('select -score as cle from auteurs where id_auteur = $1'),
}

/** The place of a ranking key: the entries before its leaf, from the tree, plus the rest, from the index. */
function placeSql(key: string): string {
  const { nodes, before } = leafSql('k.cle')
  return `select ${before} + 1 + (select count(*) from (
      select cle_classement, date_classement, id_auteur from auteurs
      where (cle_classement, date_classement, id_auteur) >= (f0.cle, f0.date, f0.id)
      order by cle_classement, date_classement, id_auteur limit 64
    ) leaf where (cle_classement, date_classement, id_auteur) < (k.cle, 0, 0))
    from (${key}) k, ${nodes.map((node) => `lateral ${node}`).join(', ')}`
}

const selectAuthor: Named = { name: 'author', text: `select ${AUTHOR_COLUMNS} from auteurs where id_auteur = $1` }

const selectWritten: Named = {
  name: 'written',
  text: `select c.id_challenge, c.url_challenge, c.titre from challenges_auteurs join challenges c using (id_challenge)
    where id_auteur = $1 order by c.id_challenge`,
}

const selectSolved: Named = {
  name: 'solved',
  text: `select c.id_challenge, c.titre, c.id_rubrique, c.score, date
    from validations join challenges c using (id_challenge)
    where id_auteur = $1 order by date = ${UNKNOWN_DATE}, date desc, c.id_challenge`,
}

async function select(db: PoolClient, statement: Named, ...values: number[]): Promise<Row[]> {
  const question: QueryArrayConfig = { ...statement, values, rowMode: 'array' }
  return (await db.query<Row>(question)).rows
}

async function value(db: PoolClient, statement: Named, ...values: number[]): Promise<number> {
  const [row] = await select(db, statement, ...values)
  return Number(row?.[0])
}
