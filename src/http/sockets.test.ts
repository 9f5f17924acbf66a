import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { makeFolder, startServer, type TestServer } from '../../test/harness.js'
import { PATIENCE } from '../../test/patience.js'
import { petitPortail } from '../../test/wire.js'

type Settings = NonNullable<NonNullable<Parameters<typeof startServer>[1]>['settings']>

const OPENSSL = 'openssl'

/** Timeouts so long that a test that waits for one fails. */
const NEVER: Settings = { requestTimeoutSeconds: 600, keepAliveSeconds: 600 }

let server: TestServer
let folder: string | undefined
const sockets: Socket[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.close()
  if (folder) rmSync(folder, { recursive: true })
  folder = undefined
})

async function start(settings: Settings): Promise<void> {
  server = await startServer(petitPortail, { settings })
}

/** The same over TLS. */
async function startTls(settings: Settings): Promise<void> {
  folder = makeFolder()
  const [tlsKey, tlsCert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const keys = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-keyout', tlsKey, '-out', tlsCert]
  execFileSync(OPENSSL, ['req', '-x509', '-nodes', '-days', '2', '-subj', '/CN=localhost', ...keys], {
    stdio: 'ignore',
  })
  await start({ ...settings, tlsKey, tlsCert })
}

/** A client that writes a text and never closes its connection, not even after the server does. */
async function open(text: string): Promise<Socket> {
  const { hostname, port } = new URL(server.url)
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }).on('error', () => undefined)
  sockets.push(socket)
  await once(socket, 'connect')
  if (text !== '') socket.write(text)
  return socket.resume()
}

function openMany(...texts: string[]): Promise<Socket[]> {
  return Promise.all(texts.flatMap((text) => Array.from({ length: 20 }, () => open(text))))
}

function countConnections(): Promise<number> {
  return new Promise((resolve) => server.app.server.getConnections((_, count) => resolve(count)))
}

const HALF_A_HEAD = 'GET /challenges HTTP/1.1\r\nHost: a\r\n'
const HALF_A_BODY = 'POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{'
const HALF_A_HANDSHAKE = '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'

describe('a request that does not arrive in time', () => {
  test('is disconnected, even if the client never closes: silent, half a head, half a body', async () => {
    await start({ requestTimeoutSeconds: 1 })
    let accepted = 0
    server.app.server.on('connection', () => accepted++)
    await openMany('', HALF_A_HEAD, HALF_A_BODY)
    await vi.waitUntil(() => accepted === 60, PATIENCE)
    await vi.waitUntil(async () => (await countConnections()) === 0, PATIENCE)
    expect((await server.get('/challenges')).status).toBe(200)
  })

  test('is disconnected during a TLS handshake too', async () => {
    await startTls({ requestTimeoutSeconds: 1 })
    let accepted = 0
    server.app.server.on('connection', () => accepted++)
    await openMany('', HALF_A_HANDSHAKE)
    await vi.waitUntil(() => accepted === 40, PATIENCE)
    await vi.waitUntil(async () => (await countConnections()) === 0, PATIENCE)
  })
})

describe('a shutdown', () => {
  test('answers every request of active clients, with Connection: close', async () => {
    await start(NEVER)
    let closing: Promise<void> | undefined
    let answers = 0
    const clients = Array.from({ length: 10 }, async () => {
      const socket = await open('')
      for (;;) {
        const answer = await ask(socket)
        expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n\[.*\]$/)
        answers++
        if (answers === 100) closing = server.app.close()
        if (/^connection: close\r$/im.test(answer)) return once(socket.resume(), 'end')
        expect(/^connection: keep-alive\r$/im.test(answer)).toBe(true)
      }
    })
    await Promise.all(clients)
    expect(answers).toBeGreaterThanOrEqual(100)
    await closing
    expect(await countConnections()).toBe(0)
  })

  test('still answers the first request after the signal', async () => {
    await start(NEVER)
    const socket = await open('')
    await ask(socket)
    const closing = server.app.close()
    expect(await ask(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n(?=[\s\S]*^connection: close\r$)/im)
    await closing
  })

  test('does not wait for connections without a request in flight: silent, idle, or half a request', async () => {
    await start(NEVER)
    await openMany('', HALF_A_HEAD)
    const idle = await open('')
    await ask(idle)
    idle.write('GET /chall')
    await vi.waitUntil(async () => (await countConnections()) === 41, PATIENCE)
    await server.app.close()
    expect(await countConnections()).toBe(0)
  })

  test('does not wait for unfinished TLS handshakes or idle TLS connections', async () => {
    await startTls(NEVER)
    await openMany('', HALF_A_HANDSHAKE)
    const idle = connectTls({ port: Number(new URL(server.url).port), host: '127.0.0.1', rejectUnauthorized: false })
    sockets.push(idle)
    await once(idle, 'secureConnect')
    expect(await ask(idle)).toMatch(/^HTTP\/1\.1 200 /)
    await server.app.close()
    expect(await countConnections()).toBe(0)
  })
})

/** Requests a page and reads the whole response. Rejects if the connection ends before. */
function ask(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const end = () => done(() => reject(new Error(`the connection ended after ${JSON.stringify(text)}`)))
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const [head = '', body] = text.split('\r\n\r\n')
      const length = Number(/^content-length: (\d+)\r?$/im.exec(head)?.[1])
      if (body?.length === length) done(() => resolve(text))
    }
    const done = (settle: () => void) => {
      socket.off('data', onData).off('end', end).off('close', end)
      settle()
    }
    socket.on('data', onData).on('end', end).on('close', end)
    socket.write(`GET /challenges HTTP/1.1\r\nHost: a\r\nCookie: api_key=${server.key}\r\n\r\n`)
  })
}
