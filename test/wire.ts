import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { catalogue, type ErrorCode } from '../src/errors.js'
import { ACCOUNT, type DumpLine, type TestServer } from './harness.js'

/** A portal with an author for each of two accounts, and one challenge. */
export const petitPortail: readonly DumpLine[] = [
  { type: 'rubrique', id_rubrique: 1, nom: 'Réseau' },
  { type: 'auteur', id_auteur: 1, nom: 'alice', score: 10 },
  { type: 'auteur', id_auteur: 2, nom: 'bob', score: 5 },
  { type: 'challenge', id_challenge: 1, id_rubrique: 1, titre: 'Un', score: 5 },
]

export const BOB = { login: 'bob', password: 'staple battery horse', idAuteur: 2 }

/** Signs in by POST JSON. */
export function postLogin(
  server: Pick<TestServer, 'anonymous'>,
  body: unknown = { login: ACCOUNT.login, password: ACCOUNT.password },
  headers: Record<string, string> = {},
): Promise<Response> {
  return server.anonymous('/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** Repeats requests while the server sheds one of them, as it may on a busy machine. */
export async function unlessShed<T extends Shown | readonly Shown[]>(send: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    const answers = await send()
    if (![answers].flat().some(isShed) || tries === 50) return answers
    await sleep(200)
  }
}

type Shown = Pick<Response, 'status' | 'headers'>

/** No other refusal has this Retry-After. */
function isShed({ status, headers }: Shown): boolean {
  return status === 503 && headers.get('retry-after') === '2'
}

/** A new session of an account, as a Cookie header. */
export async function sessionOf(server: TestServer, account: { login: string; password: string } = ACCOUNT) {
  const response = await postLogin(server, { login: account.login, password: account.password })
  expect(response.status).toBe(200)
  const { service_session } = (await response.json()) as { service_session: string }
  return `service_session=${service_session}`
}

export interface ProblemBody {
  type: string
  title: string
  status: number
  detail: string
  code: ErrorCode
  request_id: string
  errors?: { parameter: string; message: string }[]
}

/** The body of a response that must be the problem of a code. Checks everything that each problem guarantees. */
export async function problemOf(
  response: Pick<Response, 'status' | 'headers' | 'text'>,
  code: ErrorCode,
): Promise<ProblemBody> {
  const text = await response.text()
  const { status, title } = catalogue[code]
  expect([response.status, text]).toEqual([status, expect.stringContaining(`"code":"${code}"`)])
  const body = JSON.parse(text) as ProblemBody
  const keys = ['type', 'title', 'status', 'detail', 'code', 'request_id']
  expect(Object.keys(body)).toEqual(status === 400 ? [...keys, 'errors'] : keys)
  expect(body).toMatchObject({ type: `urn:palmares:problem:${code}`, title, status })
  expect(text).toBe(JSON.stringify(body))
  expect(text).toMatch(/^[\x20-\x7e]*$/)
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  expect(response.headers.get('x-request-id')).toBe(body.request_id)
  expect(response.headers.get('api-version')).toBe('1')
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.has('location')).toBe(false)
  expect(response.headers.has('www-authenticate')).toBe(status === 401)
  expect(response.headers.has('retry-after')).toBe(status === 429 || status === 503)
  expect(response.headers.has('allow')).toBe(status === 405)
  if (status === 400) expect(body.errors?.length).toBeGreaterThan(0)
  return body
}

/** Writes raw bytes to the server and reads until it closes the connection. */
export function exchange(url: string, ...parts: (string | Buffer)[]): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), hostname)
    socket.setEncoding('latin1')
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (text === '' || !['ECONNRESET', 'EPIPE'].includes(error.code ?? '')) reject(error)
    })
    socket.on('close', () => resolve(text))
    for (const part of parts) socket.write(part)
  })
}

/** The first answer in what `exchange` read. */
export function parseAnswer(text: string): Response {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [statusLine = '', ...fields] = head.split('\r\n')
  const match = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine)
  if (!match) throw new Error(`no answer: ${JSON.stringify(text.slice(0, 200))}`)
  const headers = new Headers(fields.map((field) => field.split(/: ?(.*)/s).slice(0, 2) as [string, string]))
  const status = Number(match[1])
  return new Response(status === 204 || status === 304 ? null : rest.join('\r\n\r\n'), { status, headers })
}

/** All responses that `exchange` read, by their length. Throws if there are other bytes before, between or after them. */
export function parseAnswers(text: string): { status: number; head: string; body: string }[] {
  const answers = []
  for (let rest = text; rest !== ''; ) {
    const [, head, status] = /^(HTTP\/1\.1 (\d{3}) .*?)\r\n\r\n/s.exec(rest) ?? []
    if (head === undefined) throw new Error(`no answer begins at ${JSON.stringify(rest.slice(0, 200))}`)
    const bodyAt = head.length + 4
    const end = bodyAt + Number(/^content-length: (\d+)$/im.exec(head.replaceAll('\r', ''))?.[1] ?? 0)
    if (end > rest.length) throw new Error(`an answer is cut: ${JSON.stringify(rest.slice(0, 200))}`)
    answers.push({ status: Number(status), head, body: rest.slice(bodyAt, end) })
    rest = rest.slice(end)
  }
  return answers
}

/** The message of a response that must be an error of the dialect. Checks everything that each of them guarantees. */
export async function dialectErrorOf(
  response: Pick<Response, 'status' | 'headers' | 'text'>,
  status: number,
): Promise<string> {
  const text = await response.text()
  expect([response.status, text]).toEqual([status, expect.stringContaining(`[{"error":{"code":${status},"message":"`)])
  const [{ error }] = JSON.parse(text) as [{ error: { code: number; message: string } }]
  expect(text).toBe(JSON.stringify([{ error: { code: status, message: error.message } }]))
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(response.headers.get('x-request-id')).toMatch(/^\S+$/)
  expect(response.headers.get('api-version')).toBe('1')
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.has('www-authenticate')).toBe(status === 401)
  expect(response.headers.has('retry-after')).toBe(status === 429 || status === 503)
  expect(response.headers.has('allow')).toBe(status === 405)
  return error.message
}
