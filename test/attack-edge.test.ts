import { connect } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { importInto, makeStore, serveStore, startServer, type TestServer } from './harness.js'
import { PATIENCE } from './patience.js'
import { exchange, parseAnswer, petitPortail, problemOf } from './wire.js'

type LogLine = Record<string, unknown> & { suppressed?: Record<string, number> }

/** The number of concurrent requests in a campaign. */
const AT_ONCE = 20

/** Requests that a stranger may send, refused by different parts of the server. */
const ATTACKS = [
  'DESCRIBE / RTSP/1.0\r\n\r\n',
  'ANNOUNCE rtsp://a/ RTSP/1.0\r\nHost: a\r\n\r\n',
  'TEARDOWN /challenges RTSP/1.0\r\nHost: a\r\n\r\n',
  'GET_PARAMETER * RTSP/1.0\r\nHost: a\r\n\r\n',
  'FLUSH /rootme/challenges RTSP/1.0\r\nHost: a\r\nAccept-Version: 1.x\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'PRI / HTTP/1.1\r\nHost: a\r\n\r\n',
  'SOURCE / ICE/1.0\r\nHost: a\r\nConnection: close\r\n\r\n',
  'FOO / HTTP/1.1\r\nHost: a\r\n\r\n',
  'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET / HTTP/2.0\r\nHost: a\r\n\r\n',
  'GET / HTTP/9.9\r\nHost: a\r\n\r\n',
  'POST /login HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  'POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  'GET /%ff HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  'GET /nothing HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n',
  'GET /nothing HTTP/1.1\r\nHost: a\r\nAccept-Version: 1.x\r\nConnection: close\r\n\r\n',
  `GET /${'x'.repeat(9_000)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
  'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  'GET /assets/../../package.json HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
]

let server: TestServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

/** Sends each of these on its own connection, several at a time, and returns the responses. */
async function campaign(url: string, attacks: readonly string[]): Promise<Response[]> {
  const left = attacks.entries()
  const answers: Response[] = []
  const client = async () => {
    for (const [i, bytes] of left) answers[i] = parseAnswer(await exchange(url, bytes))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client))
  return answers
}

const linesOf = (log: readonly string[]) => log.map((line) => JSON.parse(line) as LogLine)

/** Waits until a counter, or the counts of a histogram, reach a sum. A client may have its response before it is counted. */
async function expectTotal({ metrics }: Pick<TestServer, 'metrics'>, name: string, expected: number): Promise<void> {
  const total = async () => {
    const text = await metrics.registry.metrics()
    const values = [...text.matchAll(new RegExp(`^${name}\\{.*\\} (\\d+)$`, 'gm'))]
    return values.reduce((sum, [, value]) => sum + Number(value), 0)
  }
  await expect.poll(total).toBe(expected)
}

describe('any bytes from strangers', () => {
  test('are refused with a request id, counted once, charged, and logged as no fault of the server', async () => {
    server = await startServer(petitPortail, { settings: { rateLimit: 600, addressRateLimit: 100_000 } })
    const answers = await campaign(server.url, Array(10).fill(ATTACKS).flat())
    for (const answer of answers) {
      // 503 if the machine is busy.
      expect([400, 401, 405, 414, 501, 503, 505]).toContain(answer.status)
      expect(answer.headers.get('x-request-id')).toMatch(/^\S+$/)
    }
    await expectTotal(server, 'palmares_http_request_duration_seconds_count', answers.length)
    await expectTotal(server, 'palmares_http_problems_total', answers.length)
    expect(linesOf(server.log).filter(({ level, msg }) => Number(level) > 30 && msg !== 'overloaded')).toEqual([])
  })

  test('are charged to their address, and limited with it', async () => {
    server = await startServer(petitPortail, { settings: { rateLimit: 600, addressRateLimit: 5 } })
    // Requests of the page are not charged.
    const charged = ATTACKS.filter((bytes) => !bytes.startsWith('SOURCE / '))
    for (const bytes of charged) {
      // More than twice the budget, because a new minute may start meanwhile.
      const answers = await campaign(server.url, Array(12).fill(bytes))
      const limited = answers.find(({ status }) => status === 429)
      if (!limited) throw new Error(`not limited: ${JSON.stringify(bytes)}`)
      await problemOf(limited, 'address_limited')
      expect(limited.headers.get('ratelimit-policy')).toBe('"adresse";q=5;w=60')
      expect(limited.headers.get('ratelimit')).toMatch(/^"adresse";r=0;t=\d+$/)
    }
    await expectTotal(server, 'palmares_http_request_duration_seconds_count', 12 * charged.length)
  })
})

test.each([
  ['a refusal', 'POST /validations', 401],
  ['a response of the page', 'GET /', 200],
  ['a health check', 'GET /health/live', 200],
])('an endless body after %s ends the connection', async (_, line, status) => {
  server = await startServer(petitPortail)
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.setEncoding('latin1').on('data', (text) => {
    answer += text
  })
  const isClosed = new Promise((resolve) => socket.on('error', () => undefined).on('close', resolve))
  socket.write(`${line} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`)
  await vi.waitFor(() => expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `)), PATIENCE)
  const chunks = '1\r\nx\r\n'.repeat(10_000)
  for (let sent = 0; socket.writable && sent < 1_000; sent++) {
    await new Promise<void>((resolve) => socket.write(chunks, () => resolve()))
  }
  await isClosed
  expect(socket.bytesWritten).toBeLessThan(1_000 * chunks.length)
})

test('a malformed request with a credential gets its error even if the budget of its address is used up', async () => {
  server = await startServer(petitPortail, { settings: { rateLimit: 600, addressRateLimit: 5 } })
  const head = (line: string, host: string, credential: string) =>
    `${line} HTTP/1.1\r\nHost: ${host}\r\n${credential}Connection: close\r\n\r\n`
  const faults = [
    ['GET /%zz', 'a', 400],
    [`GET /${'x'.repeat(9_000)}`, 'a', 414],
    ['GET /challenges', 'a b', 400],
  ] as const
  await campaign(server.url, Array(20).fill('GET /%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'))
  for (const [line, host, status] of faults) {
    for (const credential of [`Cookie: api_key=${server.key}\r\n`, `Authorization: Bearer ${server.key}\r\n`]) {
      const [answer] = await campaign(server.url, [head(line, host, credential)])
      expect([line.slice(0, 20), answer?.status]).toEqual([line.slice(0, 20), status])
    }
    const [limited] = await campaign(server.url, [head(line, host, '')])
    expect(limited?.status).toBe(429)
  }
})

describe('the log', () => {
  test('has a limited number of lines for refusals, and the number of suppressed ones; the metrics count all', async () => {
    server = await startServer(petitPortail)
    const attacks = Array(400).fill('DESCRIBE / RTSP/1.0\r\n\r\n')
    await campaign(server.url, attacks)
    await expectTotal(server, 'palmares_http_problems_total', attacks.length)
    const { log } = server
    await server.close()
    server = undefined
    const lines = linesOf(log)
    const written = lines.filter(({ problem }) => problem === 'malformed_request').length
    const suppressed = lines.reduce((sum, line) => sum + (line.suppressed?.malformed_request ?? 0), 0)
    expect(written).toBeLessThan(attacks.length)
    expect(written + suppressed).toBe(attacks.length)
    expect(Math.max(...log.map((line) => line.length))).toBeLessThan(500)
  })

  const MANY = 300
  const free: Record<string, string> = {
    'a preflight':
      'OPTIONS /challenges HTTP/1.1\r\nOrigin: https://a.example\r\nAccess-Control-Request-Method: GET\r\n',
    'the page': 'GET / HTTP/1.1\r\n',
    'a method that the page does not take': 'POST / HTTP/1.1\r\n',
    'any request while the store is unreachable': 'GET /challenges HTTP/1.1\r\n',
  }
  for (const [what, bytes] of Object.entries(free)) {
    test(`has a limited number of lines for requests that are not charged: ${what}`, async () => {
      const made = await makeStore()
      await importInto(made.store, petitPortail)
      const settings = { rateLimit: 600, addressRateLimit: 600, corsOrigin: ['https://a.example'] }
      const served = await serveStore(made.store, { settings })
      if (what.includes('store')) await made.store.close()
      await campaign(served.url, Array(MANY).fill(`${bytes}Host: a\r\nConnection: close\r\n\r\n`))
      await expectTotal(served, 'palmares_http_request_duration_seconds_count', MANY)
      await served.app.close()
      if (!what.includes('store')) await made.close()
      const lines = linesOf(served.log).filter(({ level }) => Number(level) === 30)
      const written = lines.filter(({ msg }) => msg === 'request').length
      const suppressed = lines.flatMap((line) => Object.values(line.suppressed ?? {})).reduce((sum, n) => sum + n, 0)
      expect(written).toBeLessThan(MANY)
      expect(written + suppressed).toBe(MANY)
    })
  }

  test('has the stack of a fault once, and the number of its repeats; the metrics count all', async () => {
    const made = await makeStore()
    await importInto(made.store, petitPortail)
    const served = await serveStore(made.store)
    await made.store.close()
    const asks = Array(100).fill('GET /challenges HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    const answers = await campaign(served.url, asks)
    for (const { status } of answers) expect([500, 503]).toContain(status)
    const faults = answers.filter(({ status }) => status === 500 || status === 503).length
    await expectTotal(served, 'palmares_http_problems_total', faults)
    await served.app.close()
    const errors = linesOf(served.log).filter(({ level }) => Number(level) >= 50)
    const written = errors.filter(({ err }) => err !== undefined).length
    const suppressed = errors.flatMap((line) => Object.values(line.suppressed ?? {})).reduce((sum, n) => sum + n, 0)
    expect(written).toBeLessThan(faults / 2)
    expect(written + suppressed).toBe(faults)
  })
})
