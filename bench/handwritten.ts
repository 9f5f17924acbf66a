import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Shared by the hand-written servers: parsing requests, and turning rows into response bytes and headers. */

/** Palmarès' keep-alive time, which Node sends in a header of each response. */
export const KEEP_ALIVE_MILLISECONDS = 65_000

/** Stands for an unknown date; such validations sort last. */
export const UNKNOWN_DATE = 253_402_300_800

/** The default of `--portal-url`. */
const PORTAL_URL = 'http://127.0.0.1:8080/portail/'
const DEFAULT_ROWS = 100

export type Row = (string | number)[]
export type Asked = AskedPage | AskedAuthor

/** A page of the ranking. */
export interface AskedPage {
  debut: number
  limite: number
  host: string
}

export interface AskedAuthor {
  id: number
}

export interface Answer {
  body: unknown
  link?: string
  total?: number
}

/** Parses a request, if it is one of the two reads. */
export function readRequest({ url = '', headers }: IncomingMessage): Asked | undefined {
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  if (path.startsWith('/auteurs/')) return { id: Number(path.slice(9)) }
  if (path !== '/classement') return undefined
  const query = new URLSearchParams(url.slice(mark + 1))
  const debut = Number(query.get('debut_classement') ?? 0)
  return { debut, limite: Number(query.get('limite') ?? DEFAULT_ROWS), host: headers.host ?? '' }
}

/** A page of rows (id, name, score), of which only the first needs its place. */
export function pageAnswer({ debut, limite, host }: AskedPage, total: number, rows: Row[], firstPlace: number): Answer {
  let place = firstPlace
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

export const AUTHOR_COLUMNS = 'id_auteur, nom, score, statut, lang, nb_validations, groupe'
export const WRITTEN_COLUMNS = ['id_challenge', 'url_challenge', 'titre']
export const SOLVED_COLUMNS = ['id_challenge', 'titre', 'id_rubrique', 'score', 'date']

/** An author with their challenges and solves, from rows with the columns above. */
export function authorAnswer(row: Row, position: number, written: Row[], solved: Row[]): Answer {
  const [id, nom, score, statut, lang, nb_validations, groupe] = row
  const body = {
    nom,
    score,
    position,
    challenges: written.map(([id_challenge, url, titre]) => ({
      id_challenge,
      url_challenge: PORTAL_URL + url,
      titre,
    })),
    id_auteur: String(id),
    statut,
    lang,
    nb_validations,
    validations: solved.map(([id_challenge, titre, id_rubrique, points, date]) => ({
      id_challenge,
      titre,
      id_rubrique,
      score: points,
      date: date === UNKNOWN_DATE ? null : `${new Date(Number(date) * 1000).toISOString().slice(0, 19)}Z`,
    })),
    groupe,
  }
  return { body }
}

/**
 * SQL that counts the entries before the leaf of a ranking key in the counted tree: one node per level from the top, f3 to
 * f0, and the sum of the counts before them.
 */
export function leafSql(key: string): { nodes: string[]; before: string } {
  const at = (level: number) => `from noeuds where arbre = 'classement' and niveau = ${level}`
  const node = (level: number) =>
    `(select cle, date, id ${at(level)} and (cle, date, id) <= (${key}, 0, 0)
      order by cle desc, date desc, id desc limit 1) f${level}`
  const between = (level: number, from: string) =>
    `(select coalesce(sum(nb), 0) ${at(level)} ${from} and (cle, date, id) < (f${level}.cle, f${level}.date, f${level}.id))`
  const from = (level: number) => `and (cle, date, id) >= (f${level}.cle, f${level}.date, f${level}.id)`
  return {
    nodes: [3, 2, 1, 0].map(node),
    before: [between(3, ''), between(2, from(3)), between(1, from(2)), between(0, from(1))].join(' + '),
  }
}

let count = 0

export function send(response: ServerResponse, answer: Answer | undefined): void {
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
}

function toBuffer(body: unknown): Buffer {
  const text = JSON.stringify(body).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return Buffer.from(text, 'latin1')
}
