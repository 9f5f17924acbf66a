import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { type DumpLine, engines, exportKey, startServer, type TestServer } from './harness.js'
import { PATIENCE } from './patience.js'
import { parseAnswer, unlessShed } from './wire.js'

const AUTEURS = 2_000
const CSV = '/export?ressource=rubriques&format=csv'
const SEARCH = '/auteurs?nom=auteur%201999'
const CSV_BODY = /^id_rubrique,nom,nb_challenges\r\n1,Une,1\r\n$/

/** A portal whose feed has 24 MB, more than socket buffers hold: each solve repeats the title. */
function feedPortal(): DumpLine[] {
  const auteurs = Array.from({ length: AUTEURS }, (_, i) => i + 1)
  return [
    { type: 'rubrique', id_rubrique: 1, nom: 'Une' },
    { type: 'challenge', id_challenge: 1, id_rubrique: 1, titre: '\u{1F600}'.repeat(1_000), score: 1 },
    ...auteurs.map((id_auteur) => ({ type: 'auteur', id_auteur, nom: `auteur ${id_auteur}` })),
    ...auteurs.map((id_auteur) => ({
      ...{ type: 'validation', id_auteur, id_challenge: 1 },
      date: '2026-01-31T12:00:00Z',
    })),
  ]
}

describe.each(engines)('a response that several requests wait for on %s', (engine) => {
  let server: TestServer
  let key: string
  const opened: Socket[] = []
  beforeAll(async () => {
    // Without a cache no whole response fits in it, so each one is streamed.
    server = await startServer(feedPortal(), { engine, settings: { cacheMegabytes: 0, openCtftime: true } })
    key = await exportKey(server)
  })
  afterEach(async () => {
    for (const socket of opened.splice(0)) socket.destroy()
    await vi.waitFor(() => expect(server.store.state().streams).toBe(0), PATIENCE)
  })
  afterAll(() => server.close())

  const head = (path: string, { version = '1.1', method = 'GET', credential = key } = {}) =>
    `${method} ${path} HTTP/${version}\r\nHost: a\r\nConnection: close\r\n${
      credential && `Authorization: Bearer ${credential}\r\n`
    }\r\n`

  /** Sends one request on each of several connections at once. The first one leads and the others wait for its response. */
  async function together(...heads: string[]): Promise<Socket[]> {
    const { hostname, port } = new URL(server.url)
    const sockets = heads.map(() => connect(Number(port), hostname).on('error', () => undefined))
    opened.push(...sockets)
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    for (const [i, socket] of sockets.entries()) socket.write(heads[i] as string)
    return sockets
  }
  const answerOf = async (socket: Socket) => parseAnswer(unchunked(await text(socket)))

  const ask = (...heads: string[]) => unlessShed(async () => Promise.all((await together(...heads)).map(answerOf)))

  test('is not refused to the others when the first uses HTTP/1.0', async () => {
    const answers = await ask(head(CSV, { version: '1.0' }), head(CSV), head(CSV))
    expect(answers.map(({ status }) => status)).toEqual([426, 200, 200])
    for (const answer of answers.slice(1)) expect(await answer.text()).toMatch(CSV_BODY)
  })

  test('serves GET and HEAD together, whichever is first', async () => {
    const answers = await ask(head(CSV, { method: 'HEAD' }), head(CSV), head(CSV, { method: 'HEAD' }))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const [first, body, last] = await Promise.all(answers.map((answer) => answer.text()))
    expect([first, last]).toEqual(['', ''])
    expect(body).toMatch(CSV_BODY)
  })

  test.each([CSV, SEARCH])('is sent to the others when the client of the first disconnects: %s', async (path) => {
    const answers = await unlessShed(async () => {
      const [first, ...others] = await together(head(path), head(path), head(path, { method: 'HEAD' }))
      first!.destroy()
      return Promise.all(others.map(answerOf))
    })
    // One export is sent at a time, so the last one may be refused while the other is in flight.
    expect(answers[0]!.status).toBe(200)
    expect([200, 503]).toContain(answers[1]!.status)
  })

  test('is not refused to a credential when the address of the first has its one response in flight', async () => {
    await vi.waitFor(async () => {
      const [stuck] = await together(head('/ctftime', { credential: '' }))
      await once(stuck!, 'readable')
      expect(server.store.state().streams).toBe(1)
    }, PATIENCE)
    const [stranger, caller] = await ask(
      head('/ctftime', { credential: '' }),
      head('/ctftime', { credential: server.key }),
    )
    expect([stranger!.status, await stranger!.text()]).toEqual([503, expect.stringContaining('"code":"overloaded"')])
    expect(caller!.status).toBe(200)
    const { standings } = (await caller!.json()) as { standings: unknown[] }
    expect(standings).toHaveLength(AUTEURS)
  })
})

/** A response with its chunked body decoded. */
function unchunked(answer: string): string {
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  const body = rest.join('\r\n\r\n')
  if (!/transfer-encoding: chunked/i.test(head) || body === '') return answer
  let whole = ''
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at)
    const size = Number.parseInt(body.slice(at, end), 16)
    if (!(size > 0)) return `${head}\r\n\r\n${whole}`
    whole += body.slice(end + 2, end + 2 + size)
    at = end + 2 + size + 2
  }
}
