import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeGate } from './gate.js'
import { addAccount, addKey, engines, OPERATOR, startServer, type TestServer } from './harness.js'
import { exchange, parseAnswers, petitPortail } from './wire.js'

const TRIES = 10
const GARBAGE = '\x16\x03\x01 no request\r\n\r\n'
/** The most bytes the server may read of a connection while requests wait: a few reads of 64 KiB. */
const MAX_READ_BYTES = 256 * 1024

describe.each(engines)('on %s, pipelined requests', (engine) => {
  let server: TestServer
  let key: string
  let lastId = 1_000

  beforeAll(async () => {
    server = await startServer(petitPortail, { engine })
    await addAccount(server.store, OPERATOR)
    key = await addKey(server.store, OPERATOR.login, { portee: ['lecture', 'ecriture'] })
  })
  afterAll(() => server.close())

  const head = (line: string, ...fields: string[]) =>
    [`${line} HTTP/1.1`, 'Host: a', `Cookie: api_key=${key}`, ...fields, '', ''].join('\r\n')
  const read = (...fields: string[]) => head('GET /challenges', ...fields)
  /** A request that adds a category with a new id. */
  const write = (...fields: string[]) => {
    const body = JSON.stringify({ type: 'rubrique', id_rubrique: ++lastId, nom: `category ${lastId}` })
    const length = `Content-Length: ${body.length}`
    return head('POST /validations', 'Content-Type: application/x-ndjson', length, ...fields) + body
  }
  const ask = async (...parts: string[]) => parseAnswers(await exchange(server.url, Buffer.from(parts.join(''))))
  const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status)
  const categories = async () => (await server.json<{ id_rubrique: string }[]>('/rubriques')).length
  /** How many responses the metrics count. A client may have a response before it is counted. */
  const counted = async () => {
    const text = await server.metrics.registry.metrics()
    const counts = [...text.matchAll(/^palmares_http_request_duration_seconds_count\{.*\} (\d+)$/gm)]
    return counts.reduce((sum, [, count]) => sum + Number(count), 0)
  }

  test('100 Continue is never sent inside the previous response', async () => {
    for (let i = 0; i < TRIES; i++) {
      const answers = await ask(
        read(),
        write('Expect: 100-continue'),
        write('Expect: 100-continue', 'Connection: close'),
      )
      expect(statuses(answers)).toEqual([200, 100, 200, 100, 200])
      for (const { body } of [answers[2], answers[4]] as { body: string }[]) expect(JSON.parse(body).appliquees).toBe(1)
    }
  })

  test('malformed bytes do not affect the responses to earlier requests', async () => {
    for (let i = 0; i < TRIES; i++) {
      const answers = await ask(write(), GARBAGE)
      expect(statuses(answers)).toEqual([200, 400])
      expect(JSON.parse(answers[0]?.body ?? '').appliquees).toBe(1)
    }
  })

  const broken: Record<string, { bytes: string; status: number }> = {
    'bytes that are no request': { bytes: GARBAGE, status: 400 },
    'half a request': { bytes: 'POST /validations HTTP/1.1\r\nHost: a\r\nX\r\n\r\n', status: 400 },
    'a body with a malformed chunk': {
      bytes:
        'POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      status: 400,
    },
    'another protocol': { bytes: 'DESCRIBE / RTSP/1.0\r\n\r\n', status: 400 },
    CONNECT: { bytes: 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', status: 400 },
    'a version that is not spoken': { bytes: 'GET / HTTP/9.9\r\n\r\n', status: 505 },
    'a head that is too long': { bytes: `GET / HTTP/1.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`, status: 431 },
  }
  for (const [what, { bytes, status }] of Object.entries(broken)) {
    test(`${what}: earlier requests are applied and answered in order, then comes the refusal, each counted once`, async () => {
      const [before, countedBefore] = [await categories(), await counted()]
      const answers = await ask(write(), read(), write(), write(), bytes)
      expect(statuses(answers)).toEqual([200, 200, 200, 200, status])
      expect(answers.at(-1)?.head).toMatch(/^Connection: close$/im)
      expect(await categories()).toBe(before + 3)
      // The request for the categories is counted too.
      await expect.poll(counted).toBe(countedBefore + answers.length + 1)
    })
  }

  test('the malformed rest of a request is answered once, whether the request is queued or in flight', async () => {
    const { bytes } = broken['a body with a malformed chunk'] as { bytes: string }
    for (const before of [[], [read()]]) {
      const countedBefore = await counted()
      expect(statuses(await ask(...before, bytes))).toEqual([...before.map(() => 200), 400])
      await expect.poll(counted).toBe(countedBefore + before.length + 1)
    }
  })

  test('bytes after a request that was refused before its body was read are refused too', async () => {
    const type = 'Content-Type: application/json'
    const refused = `POST /login HTTP/1.1\r\nHost: a b\r\n${type}\r\nContent-Length: 5\r\n\r\n{   }`
    expect(statuses(await ask(refused, GARBAGE))).toEqual([400, 400])
    expect(statuses(await ask(refused, write(), refused, GARBAGE))).toEqual([400, 200, 400, 400])
  })

  test('a request after a response that closes the connection is not applied', async () => {
    const before = await categories()
    const refused = head('POST /login', 'Transfer-Encoding: gzip, chunked')
    expect(statuses(await ask(`${refused}0\r\n\r\n`, write(), write()))).toEqual([501])
    expect(statuses(await ask(read('Connection: close'), write()))).toEqual([200])
    expect(await categories()).toBe(before)
  })

  test('a request that arrives while a response closes the connection is not applied', async () => {
    const before = await categories()
    for (let i = 0; i < 10 * TRIES; i++) await afterFirstBytes(server.url, read('Connection: close'), write())
    expect(await categories()).toBe(before)
  })

  test('a client that half-closes its connection gets its responses', async () => {
    const answers = parseAnswers(await halfClosed(server.url, write() + write()))
    expect(answers.map(({ status, body }) => [status, JSON.parse(body).appliquees])).toEqual([
      [200, 1],
      [200, 1],
    ])
  })

  /** Blocks a write while the bytes after it arrive. Returns the responses and the number of bytes read meanwhile. */
  const behindABlockedWrite = async (bytes: string) => {
    const [holding, released] = [makeGate(), makeGate()]
    const blocked = server.store.write(
      {},
      async () => {
        holding.open()
        await released.opened
      },
      'donnees',
    )
    await holding.opened
    const sockets: { bytesRead: number }[] = []
    server.app.server.once('connection', (socket) => sockets.push(socket))
    const exchanged = exchange(server.url, Buffer.from(write() + bytes))
    // A server without a limit reads far more in this time. On a slow machine the test proves less.
    await sleep(500)
    const readBytes = sockets[0]?.bytesRead ?? 0
    released.open()
    await blocked
    return { answers: parseAnswers(await exchanged), readBytes }
  }

  test('requests queued behind a slow one are answered in order, and the rest stays unread meanwhile', async () => {
    const paths = Array.from({ length: 1_000 }, (_, i) => `/classement?limite=${(i % 50) + 1}`)
    const large = `X: ${'x'.repeat(8_000)}`
    const last = read('Connection: close')
    const { answers, readBytes } = await behindABlockedWrite(
      paths.map((path) => head(`GET ${path}`, large)).join('') + last,
    )
    expect(readBytes).toBeLessThan(MAX_READ_BYTES)
    expect(statuses(answers)).toEqual([200, ...paths.map(() => 200), 200])
    for (const [i, path] of paths.entries())
      expect(answers[i + 1]?.head).toContain(`${path}&debut_classement=0>; rel="first"`)
  })

  test('a flood behind a slow request is neither read nor buffered: 500 wait, the next one ends the connection', async () => {
    const flood = 'GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(500_000)
    const { answers, readBytes } = await behindABlockedWrite(flood)
    expect(readBytes).toBeLessThan(MAX_READ_BYTES)
    expect(statuses(answers)).toEqual([200, ...Array(500).fill(200), 503])
    expect(answers.at(-1)?.body).toContain('"code":"overloaded"')
  })

  test('bytes that continue after their refusal do not affect earlier responses', async () => {
    for (let i = 0; i < TRIES; i++) {
      const answers = await garbageAfterAnswers(server.url, write() + GARBAGE)
      expect(statuses(answers)).toEqual([200, 400])
    }
  })

  test('500 pipelined requests on one connection are answered in order', async () => {
    const paths = Array.from({ length: 500 }, (_, i) => `/classement?limite=${(i % 50) + 1}`)
    const answers = await ask(...paths.map((path) => head(`GET ${path}`)), read('Connection: close'))
    expect(statuses(answers)).toEqual([...paths.map(() => 200), 200])
    for (const [i, path] of paths.entries())
      expect(answers[i]?.head).toContain(`${path}&debut_classement=0>; rel="first"`)
  })
})

/** Sends `first`, and `second` at the first bytes of the response. Resolves when the connection has closed. */
function afterFirstBytes(url: string, first: string, second: string): Promise<void> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }, () => socket.write(first))
    socket.once('data', () => socket.write(second))
    // The server may reset a connection on which bytes arrive that it does not read.
    socket.on('error', () => undefined)
    socket.on('end', () => socket.end()).on('close', () => resolve())
  })
}

/** Sends bytes, then garbage in small writes, and reads only after the server has had time to see some of it. */
async function garbageAfterAnswers(url: string, bytes: string) {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  socket.on('error', () => undefined)
  const closed = new Promise((resolve) => socket.on('close', resolve))
  let text = ''
  socket.setEncoding('utf8').pause()
  socket.write(bytes)
  for (let i = 0; i < 20; i++) {
    await sleep(5)
    if (socket.writable) socket.write(GARBAGE)
  }
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.on('end', () => socket.end()).resume()
  await closed
  return parseAnswers(text)
}

/** Sends bytes, half-closes the connection, and reads until the server closes its half. */
function halfClosed(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', reject).on('end', () => resolve(text))
    socket.end(bytes)
  })
}
