import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openStore } from '../../src/store/open.js'
import { ACCOUNT, addAccount, importInto, makeFolder } from '../harness.js'
import { PATIENCE } from '../patience.js'
import { makeScript } from '../script.js'
import { freePort } from '../servers/child.js'
import { parseAnswer, petitPortail, postLogin, problemOf } from '../wire.js'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname

describe('the built program', () => {
  let folder: string
  let child: ChildProcess
  let url: string
  let metricsPort: number
  const log: Record<string, unknown>[] = []

  beforeEach(async () => {
    folder = makeFolder()
    const database = `sqlite:${join(folder, 'portal.db')}`
    const store = await openStore(database, { create: true })
    await importInto(store, petitPortail)
    await addAccount(store, ACCOUNT)
    await store.close()
    metricsPort = await freePort()
    const options = ['--database', database, '--port', '0', '--metrics-port', String(metricsPort)]
    child = spawn(process.execPath, [MAIN, 'serve', ...options], { stdio: ['ignore', 'ignore', 'pipe'] })
    log.length = 0
    url = await new Promise((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`serve ended with ${code}: ${JSON.stringify(log)}`)))
      createInterface({ input: child.stderr! }).on('line', (line) => {
        log.push(JSON.parse(line))
        const address = /https?:\/\/127\.0\.0\.1:\d+(?!.*metrics)/.exec(line)?.[0]
        if (address && address !== `http://127.0.0.1:${metricsPort}`) resolve(address)
      })
    })
  })
  afterEach(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })

  const anonymous = (path: string, init?: RequestInit) => fetch(url + path, init)

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`${signal} refuses new connections, closes idle ones, finishes requests in flight and exits with 0`, async () => {
      const exit = once(child, 'exit')
      const idle = await open(url)
      idle.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n')
      await until(idle, '{"status":"live"}')
      const silent = await open(url)
      const body = JSON.stringify({ login: ACCOUNT.login, password: ACCOUNT.password })
      const running = await open(url)
      running.write(
        `POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n` +
          'Expect: 100-continue\r\n\r\n',
      )
      await until(running, '100 Continue\r\n\r\n')
      const ended = [idle, silent].map((socket) => once(socket, 'close'))
      child.kill(signal)
      await Promise.all(ended)
      await vi.waitFor(() => expect(open(url)).rejects.toThrow('ECONNREFUSED'), PATIENCE)
      running.write(body)
      const answer = parseAnswer(await until(running, '"service_session"'))
      expect(answer.status).toBe(200)
      expect(await exit).toEqual([0, null])
      expect(log.filter(({ level }) => Number(level) >= 50)).toEqual([])
      for (const socket of [idle, silent, running]) socket.destroy()
    })
  }

  test('a client that never finishes its request does not prevent the exit', async () => {
    const exit = once(child, 'exit')
    const stuck = await open(url)
    stuck.on('error', () => undefined)
    stuck.write('POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nContent-Type: application/json\r\n')
    stuck.write('Expect: 100-continue\r\n\r\n')
    await until(stuck, '100 Continue')
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
    stuck.destroy()
  })

  test('the metrics have their own port, on the loopback interface only', async () => {
    // The address is logged before the metrics port is open.
    const metrics = await vi.waitFor(() => fetch(`http://127.0.0.1:${metricsPort}/metrics`), PATIENCE)
    expect([metrics.status, await metrics.text()]).toEqual([
      200,
      expect.stringContaining('palmares_http_requests_running'),
    ])
    expect((await fetch(`http://127.0.0.1:${metricsPort}/`)).status).toBe(404)
    expect((await fetch(`http://127.0.0.1:${metricsPort}/metrics`, { method: 'POST' })).status).toBe(404)
    await problemOf(await anonymous('/metrics'), 'credential_missing')
    for (const host of ['127.0.0.2', '::1']) {
      await expect(open(`http://${host.includes(':') ? `[${host}]` : host}:${metricsPort}`)).rejects.toThrow()
    }
  })

  test('every line of the log is JSON, and a request has its id, its route and its status', async () => {
    const { headers } = await postLogin({ anonymous }, { login: 'nobody', password: 'secret word' })
    const id = headers.get('x-request-id')
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    await exit
    expect(log.filter(({ request_id }) => request_id === id)).toMatchObject([
      { method: 'POST', route: '/login', status: 401, problem: 'login_refused', address: '127.0.0.1' },
    ])
    expect(JSON.stringify(log)).not.toContain('secret word')
  })
})

test('a stop during a much longer statement ends without a message from the driver', async () => {
  const folder = makeFolder()
  const script = makeScript(`
    import { openStore } from './src/store/open.js'
    import { stopApp } from './src/cli/listen.js'
    import { makeLog } from './src/cli/serving.js'
    const log = makeLog('info')
    const serving = { log, connections: 1, timeoutSeconds: 1 }
    const store = await openStore(${JSON.stringify(`sqlite:${join(folder, 'portal.db')}`)}, { create: true, serving })
    const endless = 'with recursive c(i) as (select 1 union all select i + 1 from c) select count(*) from c'
    const app = { close: () => store.write({}, (db) => db.select(endless)), server: { closeAllConnections() {} } }
    await stopApp(app, store, log, 'SIGTERM')`)
  const child = spawn(process.execPath, [script.path], { stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (data) => (errors += data))
  expect(await once(child, 'close')).toEqual([null, 'SIGTERM'])
  const messages = errors
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).msg)
  expect(messages).toEqual(['stopping', 'stopped with requests still running'])
  script.remove()
  rmSync(folder, { recursive: true })
})

function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ''), () => resolve(socket.resume()))
    socket.once('error', reject)
  })
}

/** What a socket has received when a text is in it. */
function until(socket: Socket, text: string): Promise<string> {
  let received = ''
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      received += chunk.toString('latin1')
      if (!received.includes(text)) return
      socket.off('data', onData)
      resolve(received)
    }
    socket.on('data', onData).once('close', () => reject(new Error(`closed after ${JSON.stringify(received)}`)))
  })
}
