import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { openStore } from '../../src/store/open.js'
import { ACCOUNT, addAccount, addKey, type DumpLine, importInto, makeFolder, OPERATOR } from '../harness.js'
import { type Running, startPalmares } from '../palmares.js'
import { PATIENCE } from '../patience.js'
import { createDatabase, dropDatabase } from '../servers/postgres.js'
import { startProxy, type TestProxy } from '../servers/proxy.js'
import { unlessShed } from '../wire.js'

const postgresUrl = inject('postgresUrl')
const ROUNDS = 60
const WORKERS = 3
/** Connections to the server, which distributes them to its workers in turn. */
const CLIENTS = WORKERS + 1
/** Delays what a node hears from the database, so that it is later than the writer's own response. */
const DELAY_MILLISECONDS = 2

const portal: readonly DumpLine[] = [
  { type: 'rubrique', id_rubrique: 1, nom: 'Réseau' },
  { type: 'auteur', id_auteur: 1, nom: 'alice', score: 0 },
  ...times(ROUNDS, (i) => ({ type: 'challenge', id_challenge: i + 1, id_rubrique: 1, titre: `n° ${i}`, score: 5 })),
]

/** A connection, which the same worker serves until it closes. */
interface Client {
  ask(method: string, path: string, credential: string, body?: object): Promise<Answer>
}

interface Answer {
  status: number
  headers: Headers
  requestId: string
  body: string
}

describe.skipIf(!postgresUrl)('workers on one PostgreSQL', () => {
  let folder: string
  let database: string
  let proxy: TestProxy
  let server: Running
  let agents: Agent[]
  let clients: Client[]
  let key: string
  let session: string

  beforeAll(async () => {
    folder = makeFolder()
    database = await createDatabase(postgresUrl as string, inject('postgresTemplate'))
    const store = await openStore(database, { create: false })
    await importInto(store, portal)
    await addAccount(store, ACCOUNT)
    await addAccount(store, OPERATOR)
    key = `api_key=${await addKey(store, ACCOUNT.login)}`
    await store.close()
    const url = new URL(database)
    proxy = await startProxy(Number(url.port || 5432))
    url.port = String(proxy.port)
    const options = ['--workers', String(WORKERS), '--metrics-port', '0', '--rate-limit', '0', '--database', url.href]
    server = await startPalmares(['serve', ...options], { cwd: folder })
    proxy.delay(DELAY_MILLISECONDS)
    agents = times(CLIENTS, () => new Agent({ keepAlive: true, maxSockets: 1 }))
    clients = agents.map((agent) => clientOf(server.url, agent))
    session = await signIn()
  })

  afterEach(() => {
    for (const pid of [server.pid, ...workers()]) process.kill(pid, 'SIGCONT')
  })
  afterAll(async () => {
    await server.stop()
    for (const agent of agents) agent.destroy()
    proxy.close()
    await dropDatabase(database)
    rmSync(folder, { recursive: true, force: true })
  })

  const workers = () =>
    execFileSync('ps', ['-Ao', 'pid=,ppid=,stat='], { encoding: 'utf8' })
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, parent, state]) => parent === String(server.pid) && !state?.startsWith('Z'))
      .map(([pid]) => Number(pid))
  const signIn = async () => {
    const { login, password } = OPERATOR
    const { body } = await clients[0]!.ask('POST', '/login', '', { login, password })
    return `service_session=${JSON.parse(body).service_session}`
  }
  const all = (path: string, credential: string) =>
    Promise.all(clients.map((client) => client.ask('GET', path, credential)))
  const statuses = async (credential: string) => (await all('/rubriques', credential)).map(({ status }) => status)
  /** A key that every worker has accepted. */
  const acceptedKey = async () => {
    const made = await clients[0]!.ask('POST', '/cles_api', session, { nom: 'perdue' })
    const { id, api_key } = JSON.parse(made.body)
    expect(await statuses(`api_key=${api_key}`)).toEqual(clients.map(() => 200))
    return { path: `/cles_api/${id}`, credential: `api_key=${api_key}` }
  }
  /** Two clients of different workers, and the worker of the second one. */
  const apart = async () => {
    const answers = await all('/rubriques', key)
    const pids = await vi.waitFor(() => {
      const lines = server.output().split('\n')
      const found = answers.map(({ requestId }) => lines.find((line) => line.includes(requestId)))
      return found.map((line) => JSON.parse(line as string).pid as number)
    }, PATIENCE)
    expect([...new Set(pids)].sort()).toEqual(workers().sort())
    const other = pids.findIndex((pid) => pid !== pids[0])
    return { writer: clients[0] as Client, reader: clients[other] as Client, reading: pids[other] as number }
  }

  test('a revoked key is refused, and a solve is visible, in the next request to any worker', async () => {
    await apart()
    const wrong: unknown[] = []
    for (let i = 0; i < ROUNDS; i++) {
      const writer = clients[i % CLIENTS] as Client
      const doomed = await acceptedKey()
      expect((await writer.ask('DELETE', doomed.path, session)).status).toBe(204)
      wrong.push(...(await statuses(doomed.credential)).filter((status) => status !== 401))
      const solve = { type: 'validation', id_auteur: 1, id_challenge: i + 1, date: '2026-01-31T12:00:00Z' }
      expect((await writer.ask('POST', '/validations', session, solve)).status).toBe(200)
      const solved = (await all('/auteurs/1', key)).map(({ body }) => JSON.parse(body).nb_validations)
      wrong.push(...solved.filter((nb) => nb !== i + 1))
    }
    expect(wrong).toEqual([])
  })

  test('an ended session is refused in the next request to any worker', async () => {
    const ended = await signIn()
    expect(await statuses(ended)).toEqual(clients.map(() => 200))
    expect((await clients[1]!.ask('DELETE', '/login', ended)).status).toBe(204)
    expect(await statuses(ended)).toEqual(clients.map(() => 401))
  })

  test('a suspended worker delays a revocation by its lease at most, and refuses the key when it is resumed', async () => {
    const { writer, reader, reading } = await apart()
    const doomed = await acceptedKey()
    process.kill(reading, 'SIGSTOP')
    expect((await writer.ask('DELETE', doomed.path, session)).status).toBe(204)
    const late = reader.ask('GET', '/rubriques', doomed.credential)
    await sleep(50)
    process.kill(reading, 'SIGCONT')
    expect((await late).status).toBe(401)
    expect(workers()).toContain(reading)
  })

  test('all apply a revocation while the supervisor hangs, and also when it is back', async () => {
    const { writer, reader } = await apart()
    const [first, second] = [await acceptedKey(), await acceptedKey()]
    process.kill(server.pid, 'SIGSTOP')
    expect((await writer.ask('DELETE', first.path, session)).status).toBe(204)
    expect((await reader.ask('GET', '/rubriques', first.credential)).status).toBe(401)
    process.kill(server.pid, 'SIGCONT')
    expect((await writer.ask('DELETE', second.path, session)).status).toBe(204)
    expect((await reader.ask('GET', '/rubriques', second.credential)).status).toBe(401)
  })

  test('a worker killed while a revocation waits for it blocks nothing, and its replacement refuses the key', async () => {
    const { writer, reading } = await apart()
    const doomed = await acceptedKey()
    process.kill(reading, 'SIGSTOP')
    const revoked = writer.ask('DELETE', doomed.path, session)
    process.kill(reading, 'SIGKILL')
    expect((await revoked).status).toBe(204)
    await vi.waitFor(async () => {
      expect(workers()).toHaveLength(WORKERS)
      expect(new Set(await statuses(doomed.credential))).toEqual(new Set([401]))
    }, PATIENCE)
  })
})

function clientOf(url: string, agent: Agent): Client {
  const askOnce = (...[method, path, credential, body]: Parameters<Client['ask']>) =>
    new Promise<Answer>((resolve, reject) => {
      const text = body && JSON.stringify(body)
      const type = path === '/validations' ? 'application/x-ndjson' : 'application/json'
      const headers = { cookie: credential, ...(text && { 'content-type': type }) }
      const asked = request(url + path, { method, headers, agent, timeout: PATIENCE.timeout }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk)).on('error', reject)
        response.on('end', () =>
          resolve({
            status: response.statusCode as number,
            headers: new Headers({ 'retry-after': response.headers['retry-after'] ?? '' }),
            requestId: String(response.headers['x-request-id']),
            body: Buffer.concat(chunks).toString(),
          }),
        )
      })
      asked.on('timeout', () => asked.destroy(new Error('no answer'))).on('error', reject)
      asked.end(text)
    })
  return { ask: (...asked) => unlessShed(() => askOnce(...asked)) }
}

function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}
