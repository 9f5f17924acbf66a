import { existsSync, readFileSync } from 'node:fs'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digest, makeApiKey, shownPrefix } from '../../src/auth/tokens.js'
import { portail, randomPortal } from '../fixtures.js'
import { type DumpLine, engines, importInto, startServer, type TestServer } from '../harness.js'
import { type Asked, anyRequest, knownOf } from '../requests.js'

/** The portals that both engines contain in turn, and the number of requests for each. */
const portals: [name: string, requests: number, dump: () => readonly DumpLine[]][] = [
  ['the portal of the tests', 1_200, () => portail],
  [
    'many authors with few scores, more than are counted for one name',
    900,
    () => [...random(300, 60, 3), ...namesakes()],
  ],
  ['many challenges', 1_200, () => random(80, 650, 40)],
  ['one author', 100, () => [{ type: 'auteur', id_auteur: 1, nom: 'seul' }]],
  ...real('portail', 700),
  ...real('solves', 700),
]

/** Routes that never return 200: unknown ones, and those that a key may not use. */
const WITHOUT_200 = ['odd']
const LEAST = { 200: 1_400, 304: 100, 400: 300, 401: 60, 404: 60, 405: 30 }
/** Headers that differ with each response or connection. */
const UNCOMPARED = ['date', 'x-request-id', 'connection', 'keep-alive']

const seed = Math.floor(Math.random() * 0x7fffffff)
const key = makeApiKey()

describe.runIf(engines.length > 1)('SQLite and PostgreSQL', () => {
  const agent = new Agent({ keepAlive: true })
  const tally = new Tally()
  const settings = { publicUrl: 'https://api.example/palmares', portalUrl: 'https://portail.example/a/', rateLimit: 0 }
  let servers: TestServer[] = []

  beforeAll(async () => {
    const start = (engine: (typeof engines)[number]) => startServer([], { engine, settings, logLevel: 'silent' })
    servers = await Promise.all(engines.map(start))
  })
  afterAll(async () => {
    console.info(`differential: ${tally}, seed ${seed}`)
    agent.destroy()
    for (const server of servers) await server.close()
  })

  /** Sends a request to both engines, and returns the response if it is the same. */
  async function askBoth(asked: Asked, headers: Record<string, string>): Promise<Answer> {
    const ask = ({ url }: TestServer) => answerOf(url + asked.target, asked.method, headers, agent)
    const [ofSqlite, ofPostgres] = (await Promise.all(servers.map(ask))) as [Answer, Answer]
    expect({ seed, ...asked, headers, answer: ofPostgres }).toEqual({ seed, ...asked, headers, answer: ofSqlite })
    tally.add(asked.route, ofSqlite.status)
    return ofSqlite
  }

  test.each(portals)(
    'answer every request alike, byte by byte: %s',
    async (_, requests, dump) => {
      const lines = dump()
      for (const { store } of servers) await fill(store, lines)
      for (const asked of fc.sample(anyRequest(knownOf(lines)), { seed, numRuns: requests })) {
        const first = asked.tag === 'none' ? asked : { ...asked, tag: 'none' as const }
        const { headers } = await askBoth(first, credentialOf(asked))
        const condition = conditionOf(asked, headers.etag ?? '"x"')
        if (condition) await askBoth(asked, { ...credentialOf(asked), 'if-none-match': condition })
      }
    },
    120_000,
  )

  test('received every kind of request: each route gave responses and refusals, and all statuses occurred', () => {
    for (const [route, ofRoute] of tally.byRoute) {
      if (!WITHOUT_200.includes(route)) expect([route, ofRoute.get(200)]).toEqual([route, expect.any(Number)])
    }
    for (const [status, least] of Object.entries(LEAST)) {
      expect([status, (tally.statuses.get(Number(status)) ?? 0) >= least]).toEqual([status, true])
    }
    expect(tally.byRoute.size).toBeGreaterThan(12)
    expect((tally.statuses.get(200) ?? 0) / tally.total).toBeGreaterThan(0.4)
    expect([...tally.statuses.keys()].filter((status) => status >= 500)).toEqual([])
  })
})

/** Replaces the contents of a store by a dump and the account of the key. */
async function fill(store: TestServer['store'], lines: readonly DumpLine[]): Promise<void> {
  await importInto(store, lines, { replace: true })
  const auteur = lines.find(({ type }) => type === 'auteur')?.id_auteur
  const dates = { creation: '2026-01-01T00:00:00Z', expiration: '2999-01-01T00:00:00Z' }
  const cle = { id: 1, nom: 'k', prefixe: shownPrefix(key), empreinte: digest(key), portee: ['lecture'], ...dates }
  const mot_de_passe = '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$Y2hlY2tjaGVja2NoZWNrY2hlY2tjaGVja2NoZWNrYWx0'
  const flags = { operateur: false, desactive: false, creation: dates.creation }
  const compte = { type: 'compte', login: 'lecteur', id_auteur: auteur, mot_de_passe, ...flags, cles: [cle] }
  await importInto(store, [compte], { withAccounts: true })
}

function credentialOf({ credential }: Asked): Record<string, string> {
  const headers: Record<Asked['credential'], Record<string, string>> = {
    key: { cookie: `api_key=${key}` },
    bearer: { authorization: `Bearer ${key}` },
    both: { cookie: 'service_session=x; api_key=y', authorization: `Bearer ${key}` },
    invalid: { cookie: `api_key=${key.slice(0, -1)}` },
    none: {},
  }
  return headers[credential]
}

function conditionOf({ tag }: Asked, etag: string): string | undefined {
  const conditions: Record<Asked['tag'], string | undefined> = {
    ...{ none: undefined, right: etag, weak: `W/${etag}`, listed: `"a", ${etag}` },
    ...{ wrong: `"${etag.slice(2)}`, any: '*' },
  }
  return conditions[tag]
}

interface Answer {
  status: number | undefined
  headers: IncomingHttpHeaders
  body: string
}

/** A response without what always differs. */
function answerOf(url: string, method: string, headers: Record<string, string>, agent: Agent): Promise<Answer> {
  const { origin } = new URL(url)
  return new Promise((resolve, reject) => {
    const sent = request(origin, { path: url.slice(origin.length), method, headers, agent }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const id = response.headers['x-request-id'] as string
        const compared = Object.entries(response.headers).filter(([name]) => !UNCOMPARED.includes(name))
        const body = Buffer.concat(chunks).toString('latin1').replace(`"request_id":"${id}"`, '"request_id":""')
        resolve({ status: response.statusCode, headers: Object.fromEntries(compared), body })
      })
    })
    sent.on('error', reject).end()
  })
}

class Tally {
  readonly statuses = new Map<number, number>()
  readonly byRoute = new Map<string, Map<number, number>>()
  total = 0

  add(route: string, status = 0): void {
    this.total++
    const ofRoute = this.byRoute.get(route) ?? new Map<number, number>()
    this.byRoute.set(route, ofRoute)
    for (const counts of [this.statuses, ofRoute]) counts.set(status, (counts.get(status) ?? 0) + 1)
  }

  toString(): string {
    const counts = [...this.statuses].sort(([a], [b]) => a - b)
    const each = counts.map(([status, count]) => `${status}: ${count.toLocaleString('en')}`).join(', ')
    return `${this.total.toLocaleString('en')} requests answered alike (${each})`
  }
}

function random(auteurs: number, challenges: number, scores: number): DumpLine[] {
  return randomPortal({ seed, auteurs, challenges, validations: 3 * (auteurs + challenges), scores })
}

/** More than a search counts, so that it has no total. */
function namesakes(): DumpLine[] {
  return Array.from({ length: 1_200 }, (_, i) => ({
    type: 'auteur',
    id_auteur: 100_000 + i,
    nom: `Joueur ${i}`,
    score: i % 7,
  }))
}

/** A dump next to the repository, if there is one. */
function real(name: string, requests: number): typeof portals {
  const file = new URL(`../../../shared/data/${name}.ndjson`, import.meta.url)
  if (!existsSync(file)) return []
  const read = () =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  return [[`the dump ${name}`, requests, read]]
}
