import { execFileSync, spawnSync } from 'node:child_process'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openStore } from '../../src/store/open.js'
import { ACCOUNT, addAccount, addKey, importInto, makeFolder, OPERATOR } from '../harness.js'
import { palmares, type Running, startPalmares } from '../palmares.js'
import { PATIENCE } from '../patience.js'
import { freePort } from '../servers/child.js'
import { petitPortail } from '../wire.js'

const LOGIN = JSON.stringify({ login: ACCOUNT.login, password: ACCOUNT.password })

/** The `prlimit` of util-linux bounds a process that runs. */
const hasPrlimit = String(spawnSync('prlimit', ['--version']).stdout).includes('util-linux')
if (!hasPrlimit) console.warn('skipped: no `prlimit` of util-linux, so no process runs out of file descriptors')

describe('serve --workers', () => {
  let folder: string
  let database: string
  let key: string
  let operatorKey: string
  let server: Running | undefined
  let metricsPort: number

  beforeEach(async () => {
    folder = makeFolder()
    database = join(folder, 'portal.db')
    const store = await openStore(`sqlite:${database}`, { create: true })
    await importInto(store, petitPortail)
    await addAccount(store, ACCOUNT)
    await addAccount(store, OPERATOR)
    key = await addKey(store, ACCOUNT.login)
    operatorKey = await addKey(store, OPERATOR.login)
    await store.close()
  })
  afterEach(async () => {
    for (const pid of processes()) process.kill(pid, 'SIGKILL')
    await server?.ended
    server = undefined
    rmSync(folder, { recursive: true, force: true })
  })

  const start = async (workers: number, more: string[] = [], env: Record<string, string> = {}) => {
    metricsPort = await freePort()
    const options = ['--workers', workers, '--database', `sqlite:${database}`, '--metrics-port', metricsPort].map(
      String,
    )
    server = await startPalmares(['serve', ...options, '--rate-limit', '0', ...more], { cwd: folder, env })
    return server
  }
  /** The live processes of this test. */
  const processes = () =>
    execFileSync('ps', ['-Ao', 'pid=,stat=,args='], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes(database) && !/^\s*\d+ Z/.test(line))
      .map((line) => Number.parseInt(line, 10))
  const workers = () => processes().filter((pid) => pid !== server?.pid)
  const log = () =>
    (server?.output() ?? '')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  const get = (agent?: Agent, headers: Record<string, string> = {}) =>
    ask(`${server?.url}/challenges/1`, agent, { cookie: `api_key=${key}`, ...headers })
  /** Sends requests of another account until each worker has answered, so that each has the response cached. */
  const cachedByAll = async () => {
    await Promise.all(times(10, () => get(undefined, { cookie: `api_key=${operatorKey}` })))
    expect(new Set(log().flatMap(({ status, pid }) => (status === 200 ? [pid] : [])))).toEqual(new Set(workers()))
  }
  const metrics = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  const answered = async () => sumOf(await metrics(), 'palmares_http_request_duration_seconds_count')
  const living = async () => sumOf(await metrics(), 'palmares_workers')
  const allEnded = () => vi.waitFor(() => expect(processes()).toEqual([]), PATIENCE)
  /** Waits until this many processes have begun to stop. */
  const stopping = (count: number) =>
    vi.waitFor(() => expect(log().filter(({ msg }) => msg === 'stopping')).toHaveLength(count), PATIENCE)
  const restarts = () => log().filter(({ msg }) => /starting a replacement/.test(String(msg)))

  test('all serve, each line has its pid, one line announces the address, and all refuse a revoked key', async () => {
    await start(3)
    expect(workers()).toHaveLength(3)
    expect(countsOf(await Promise.all(times(30, () => get())))).toEqual({ 200: 30 })
    const served = () => new Set(log().flatMap(({ msg, pid }) => (msg === 'request' ? [pid] : [])))
    await vi.waitFor(() => expect([...served()].sort()).toEqual(workers().sort()), PATIENCE)
    expect(log().filter(({ msg }) => String(msg).startsWith('listening on'))).toMatchObject([{ pid: server?.pid }])
    expect(log().every(({ pid }) => typeof pid === 'number')).toBe(true)
    const revoke = ['keys', 'revoke', '1', '--database', `sqlite:${database}`]
    const { status } = await palmares(revoke, { cwd: folder })
    expect(status).toBe(0)
    expect(countsOf(await Promise.all(times(50, () => get())))).toEqual({ 401: 50 })
    expect(await server?.stop()).toBe(0)
  })

  test('the quota is exact over all of them, each remaining number appears once, and a cached 304 is free', async () => {
    await start(3, ['--rate-limit', '200', '--address-rate-limit', '50'])
    await vi.waitFor(cachedByAll, PATIENCE)
    await newWindow()
    const { etag } = await get()
    const unchanged = await Promise.all(times(60, () => get(undefined, { 'if-none-match': String(etag) })))
    expect(countsOf(unchanged)).toEqual({ 304: 60 })
    // Refunds are not acknowledged, but are processed before the metrics of the worker.
    await metrics()
    const agent = new Agent({ keepAlive: true, maxSockets: 30 })
    const answers = await Promise.all(times(300, () => get(agent)))
    const allowed = answers.filter(({ status }) => status === 200).map(({ remaining }) => remaining)
    expect(allowed.sort((a, b) => a - b)).toEqual(times(199, (i) => i))
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(101)
    const anonymous = await Promise.all(times(80, () => ask(`${server?.url}/challenges/1`)))
    expect(countsOf(anonymous)).toEqual({ 401: 50, 429: 30 })
    agent.destroy()
  })

  test('an operator sees the sum of all counts, and a 503 while the supervisor hangs', async () => {
    await start(3)
    const login = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(OPERATOR) }
    const { service_session } = (await (await fetch(`${server?.url}/login`, login)).json()) as {
      service_session: string
    }
    const look = () =>
      fetch(`${server?.url}/exploitation`, { headers: { cookie: `service_session=${service_session}` } })
    await Promise.all(times(30, () => get()))
    await Promise.all(times(5, () => ask(`${server?.url}/challenges/1`)))
    const looked = await Promise.all(times(6, look))
    for (const answer of looked) {
      const { trafic } = (await answer.json()) as { trafic: { requetes: number } }
      expect(trafic).toMatchObject({ processus: 3, refusees: 5 })
      expect(trafic.requetes).toBeGreaterThanOrEqual(36)
    }
    process.kill(server!.pid, 'SIGSTOP')
    try {
      const refused = await look()
      expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'overloaded' }])
    } finally {
      process.kill(server!.pid, 'SIGCONT')
    }
    await vi.waitFor(async () => expect((await look()).status).toBe(200), PATIENCE)
  })

  test('a hanging supervisor delays no request: each worker counts on its own until the supervisor is back', async () => {
    await start(2, ['--rate-limit', '100'])
    const agent = new Agent({ keepAlive: true, maxSockets: 8 })
    await Promise.all(times(8, () => get(agent)))
    process.kill(server!.pid, 'SIGSTOP')
    expect(countsOf(await Promise.all(times(8, () => get(agent))))).toEqual({ 200: 8 })
    expect(countsOf(await Promise.all(times(8, () => get(agent))))).toEqual({ 200: 8 })
    process.kill(server!.pid, 'SIGCONT')
    await newWindow()
    await vi.waitFor(async () => expect((await get(agent)).status).toBe(200), PATIENCE)
    expect(log().filter(({ level }) => level === 'warn').length).toBeGreaterThan(0)
    agent.destroy()
  })

  test('under load, a crash loses only the requests of the crashed worker, and a stop loses none', async () => {
    await start(2)
    // A client that lost its request tries again when the supervisor has noticed the crash.
    const noticed = () => vi.waitFor(() => expect(restarts()).toHaveLength(1), PATIENCE)
    const load = new Load((agent) => get(agent), 12, noticed)
    const answeredMore = (count: number) => {
      const before = load.answers.length
      return vi.waitFor(() => expect(load.answers.length - before).toBeGreaterThan(count), PATIENCE)
    }
    await answeredMore(100)
    const [killed] = workers() as [number]
    process.kill(killed, 'SIGKILL')
    await vi.waitFor(() => expect(workers().filter((pid) => pid !== killed)).toHaveLength(2), PATIENCE)
    await vi.waitFor(async () => expect(await living()).toBe(2), PATIENCE)
    const [lost, replacedAt] = [load.failures.length, Date.now()]
    await answeredMore(100)
    const stoppedAt = Date.now()
    expect(await server?.stop()).toBe(0)
    await load.end()
    expect(Object.keys(countsOf(load.answers))).toEqual(['200'])
    expect(lost).toBeLessThanOrEqual(12)
    expect(load.failures.filter(({ message }) => message === 'no answer')).toEqual([])
    expect(load.failures.filter(({ begun }) => begun > replacedAt && begun < stoppedAt)).toEqual([])
    expect(log().filter(({ level }) => level !== 'info')).toMatchObject([{ worker: killed, reason: 'SIGKILL' }])
    expect(processes()).toEqual([])
  })

  test('the metrics are the sum of all workers, including ended ones', async () => {
    await start(2)
    let total = 60
    await Promise.all(times(total, () => get()))
    await vi.waitFor(async () => expect(await answered()).toBe(total), PATIENCE)
    const [killed] = workers() as [number]
    // A suspended worker answers no scrape, so its numbers are those it reported before.
    const reported = async () => {
      await Promise.all(times(20, () => get()))
      total += 20
      await sleep(1_200)
      process.kill(killed, 'SIGSTOP')
      if ((await answered()) === total) return true
      process.kill(killed, 'SIGCONT')
      return false
    }
    while (!(await reported()));
    process.kill(killed, 'SIGKILL')
    await vi.waitFor(async () => expect([await living(), workers().includes(killed)]).toEqual([2, false]), PATIENCE)
    expect(await answered()).toBe(total)
    process.kill(workers()[0]!, 'SIGTERM')
    await vi.waitFor(() => expect(restarts()).toHaveLength(2), PATIENCE)
    await vi.waitFor(async () => expect(await living()).toBe(2), PATIENCE)
    await Promise.all(times(50, () => get()))
    await vi.waitFor(async () => expect(await answered()).toBe(total + 50), PATIENCE)
    const text = await metrics()
    const route = '{le="+Inf",method="GET",route="/challenges/:id_challenge",status="200"} '
    expect(text).toContain(`palmares_http_request_duration_seconds_bucket${route}${total + 50}`)
    expect(sumOf(text, 'palmares_response_cache_total')).toBe(total + 50)
  })

  test('a hanging worker delays no scrape, and the requests assigned to it end with it', async () => {
    await start(2)
    await Promise.all(times(20, () => get()))
    await vi.waitFor(async () => expect(await answered()).toBe(20), PATIENCE)
    const [hanging] = workers() as [number]
    process.kill(hanging, 'SIGSTOP')
    expect(await answered()).toBe(20)
    let ended = 0
    const asked = times(10, () =>
      get()
        .catch((error: Error) => error)
        .finally(() => ended++),
    )
    await vi.waitFor(() => expect(ended).toBe(9), PATIENCE)
    process.kill(hanging, 'SIGKILL')
    const answers = await Promise.all(asked)
    const failures = answers.filter((answer) => answer instanceof Error)
    expect(failures.map(({ message }) => message)).toEqual([expect.stringMatching(/hang up|ECONNRESET/)])
  })

  test('Ctrl-C, which each process receives, finishes requests in flight', async () => {
    await start(2)
    const pending = await startLogin(server!.url)
    for (let i = 0; i < 2; i++) for (const pid of workers()) process.kill(pid, 'SIGINT')
    process.kill(server!.pid, 'SIGINT')
    await stopping(3)
    pending.write(LOGIN)
    expect(await until(pending, 'service_session')).toContain('HTTP/1.1 200')
    expect(await server?.ended).toBe(0)
    expect(processes()).toEqual([])
  })

  test('a second signal ends all processes at once', async () => {
    await start(2)
    const pending = await startLogin(server!.url)
    process.kill(server!.pid, 'SIGTERM')
    await stopping(3)
    process.kill(server!.pid, 'SIGTERM')
    // A process that does not end at once would wait for the client and then end with 0.
    expect(await server?.ended).toBe(null)
    expect(processes()).toEqual([])
    pending.destroy()
  })

  test('if the supervisor is killed, the workers finish requests in flight and end', async () => {
    await start(2)
    const pending = await startLogin(server!.url)
    process.kill(server!.pid, 'SIGKILL')
    await stopping(2)
    pending.write(LOGIN)
    expect(await until(pending, 'service_session')).toContain('HTTP/1.1 200')
    await allEnded()
  })

  test('a worker that cannot start is restarted again and again, with growing pauses', async () => {
    await start(2)
    renameSync(database, `${database}.away`)
    const [killed] = workers() as [number]
    process.kill(killed, 'SIGKILL')
    const pauses = () => restarts().flatMap(({ pause_ms }) => (Number(pause_ms) > 0 ? [pause_ms] : []))
    await vi.waitFor(() => expect(pauses().length).toBeGreaterThan(2), PATIENCE)
    expect(restarts()[0]).toMatchObject({ worker: killed, reason: 'SIGKILL', pause_ms: 0 })
    for (const { reason } of restarts().slice(1)) expect(reason).toBe('exit status 1')
    expect(pauses().slice(0, 3)).toEqual([100, 200, 400])
    const probes = await Promise.all(times(10, () => ask(`${server?.url}/health/live`)))
    expect(countsOf(probes)).toEqual({ 200: 10 })
    renameSync(`${database}.away`, database)
    await vi.waitFor(async () => expect(await living()).toBe(2), PATIENCE)
    expect(await server?.stop()).toBe(0)
  })

  test.skipIf(!hasPrlimit)(
    'a worker is replaced as soon as the supervisor has a free file descriptor for it',
    async () => {
      await start(2)
      const allow = (descriptors: number) =>
        execFileSync('prlimit', ['--pid', String(server?.pid), `--nofile=${descriptors}:`])
      allow(3)
      process.kill(workers()[0]!, 'SIGKILL')
      await vi.waitFor(
        () => expect(restarts().some(({ reason }) => /EMFILE/.test(String(reason)))).toBe(true),
        PATIENCE,
      )
      allow(1_024)
      await vi.waitFor(async () => expect(await living()).toBe(2), PATIENCE)
      expect(await server?.stop()).toBe(0)
    },
  )

  test('a worker that fails late during its start is restarted after a pause too', async () => {
    const broken = join(folder, 'broken')
    // Longer than a worker must run to count as started.
    const slowly = `import cluster from 'node:cluster'
      import { existsSync } from 'node:fs'
      if (cluster.isWorker && existsSync(${JSON.stringify(broken)})) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_200)
        process.exit(1)
      }`
    await start(2, [], { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(slowly)}` })
    writeFileSync(broken, '')
    process.kill(workers()[0]!, 'SIGKILL')
    await vi.waitFor(() => expect(restarts().length).toBeGreaterThan(2), PATIENCE)
    expect(Number(restarts()[2]?.pause_ms)).toBeGreaterThan(0)
    rmSync(broken)
    await vi.waitFor(async () => expect(await living()).toBe(2), PATIENCE)
  })

  test('connections past the limit are closed, whichever worker gets them', async () => {
    await start(2, ['--max-connections', '4'])
    let closed = 0
    const sockets: Socket[] = []
    for (let i = 0; i < 10; i++) sockets.push((await open(server!.url)).once('close', () => closed++))
    let answers = 0
    for (const socket of sockets) {
      socket.once('data', () => answers++).on('error', () => undefined)
      socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n')
    }
    await vi.waitFor(() => expect(answers + closed).toBe(10), PATIENCE)
    // Each worker has its share of the limit, and the distribution of connections is not predictable.
    expect(answers).toBeGreaterThanOrEqual(2)
    expect(answers).toBeLessThanOrEqual(4)
    for (const socket of sockets) socket.destroy()
    await vi.waitFor(async () => expect((await ask(`${server?.url}/health/live`)).status).toBe(200), PATIENCE)
  })

  test('a failed start is reported in one line, and leaves no process', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as { port: number }
    const run = (...more: string[]) =>
      palmares(['serve', '--workers', '2', '--database', `sqlite:${database}`, '--log-level', 'warn', ...more], {
        cwd: folder,
      })
    const free = String(await freePort())
    const inUse = `error: port ${port} is in use on 127.0.0.1; give another with --port\n`
    const runs = await Promise.all([
      run('--port', String(port), '--metrics-port', '0'),
      run('--port', free, '--metrics-port', '0', '--tls-cert', database, '--tls-key', database),
      run('--port', '0', '--metrics-port', '0', '--host', '192.0.2.1'),
    ])
    expect(runs).toEqual([
      { status: 1, stdout: '', stderr: inUse },
      { status: 1, stdout: '', stderr: expect.stringMatching(/^error: .*PEM.*\n$/) },
      { status: 1, stdout: '', stderr: 'error: 192.0.2.1 is not an address of this machine\n' },
    ])
    expect(processes()).toEqual([])
    taken.close()
  })

  test('a metrics port in use is a warning of the supervisor, and the workers serve', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as { port: number }
    const args = ['serve', '--workers', '2', '--database', `sqlite:${database}`, '--metrics-port', String(port)]
    const other = await startPalmares(args, { cwd: folder })
    expect((await ask(`${other.url}/health/live`)).status).toBe(200)
    expect(other.output()).toContain(`no metrics: port ${port} is in use on 127.0.0.1; give another with`)
    expect(await other.stop()).toBe(0)
    taken.close()
  })
})

interface Answer {
  status: number
  etag: string | undefined
  /** The remaining budget of the account or the address. */
  remaining: number
}

/** One request, on its own connection unless there is an agent. */
function ask(url: string, agent?: Agent, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers, agent: agent ?? false, timeout: PATIENCE.timeout }, (response) => {
      const remaining = Number(/r=(\d+)/.exec(String(response.headers.ratelimit))?.[1])
      const answer = { status: response.statusCode as number, etag: response.headers.etag, remaining }
      response.on('error', reject).resume()
      response.on('end', () => resolve(answer))
    })
    asked.on('timeout', () => asked.destroy(new Error('no answer'))).on('error', reject)
    asked.end()
  })
}

interface Failure {
  begun: number
  message: string
}

/** Clients that send requests without pause, half of them on a new connection each time. */
class Load {
  readonly answers: Answer[] = []
  readonly failures: Failure[] = []
  private readonly clients: Promise<void>[]
  private isEnding = false

  /** `afterFailure` is what a client waits for before its next request. */
  constructor(
    askOnce: (agent: Agent | undefined) => Promise<Answer>,
    clients: number,
    private readonly afterFailure: () => Promise<unknown>,
  ) {
    this.clients = times(clients, (i) => this.run(askOnce, i % 2 ? new Agent({ keepAlive: true }) : undefined))
  }

  async end(): Promise<void> {
    this.isEnding = true
    await Promise.all(this.clients)
  }

  private async run(askOnce: (agent: Agent | undefined) => Promise<Answer>, agent: Agent | undefined): Promise<void> {
    while (!this.isEnding) {
      const begun = Date.now()
      try {
        this.answers.push(await askOnce(agent))
      } catch (error) {
        this.failures.push({ begun, message: (error as Error).message })
        await this.afterFailure()
        await sleep(20)
      }
    }
    agent?.destroy()
  }
}

/** A login whose body has not been sent, so that its request stays in flight. */
async function startLogin(url: string): Promise<Socket> {
  const socket = await open(url)
  socket.write(
    `POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${LOGIN.length}\r\n` +
      'Expect: 100-continue\r\n\r\n',
  )
  await until(socket, '100 Continue')
  return socket
}

function open(url: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => resolve(socket))
    socket.once('error', reject).resume()
  })
}

/** What a socket has received when a text is in it. */
function until(socket: Socket, text: string): Promise<string> {
  let received = ''
  return new Promise((resolve, reject) => {
    socket.on('data', (chunk) => {
      received += chunk
      if (received.includes(text)) resolve(received)
    })
    socket.once('close', () => reject(new Error(`closed after ${JSON.stringify(received)}`)))
  })
}

/** Waits for the next minute if this one ends soon, because its counts end with it. */
async function newWindow(): Promise<void> {
  const left = 60_000 - (Date.now() % 60_000)
  if (left < 20_000) await sleep(left + 50)
}

function sumOf(text: string, metric: string): number {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

function countsOf(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}
