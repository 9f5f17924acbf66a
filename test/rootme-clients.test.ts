import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { randomPortal } from './fixtures.js'
import { ACCOUNT, type DumpLine, engines, startServer, type TestServer } from './harness.js'
import { Model } from './model.js'

/** Author 1 exists. 230 authors fill four pages and a part, 150 challenges exactly three, and the solvers of one three more. */
const lines: DumpLine[] = [
  ...randomPortal({ seed: 7, auteurs: 230, challenges: 149, validations: 600, scores: 9 }),
  { type: 'challenge', id_challenge: 9_000, id_rubrique: 1, titre: 'Solved by all', score: 5 },
]
for (const { id_auteur } of lines.filter(({ type }) => type === 'auteur')) {
  const date = new Date(Date.UTC(2026, 0, 1) + (id_auteur as number) * 3_600_000).toISOString()
  lines.push({ type: 'validation', id_auteur, id_challenge: 9_000, date })
}

type Row = Record<string, string>
type Page = [Record<string, Row>, ...{ rel: string; href: string }[]]

const { auteurs, challenges, classement } = new Model(lines)
const idsOf = {
  auteurs: auteurs.map(({ id_auteur }) => String(id_auteur)),
  challenges: challenges.map(({ id_challenge }) => String(id_challenge)),
  classement: classement.map(({ id_auteur }) => String(id_auteur)),
}
const collections = ['auteurs', 'challenges', 'classement'] as const
const nameOf = { auteurs: 'id_auteur', challenges: 'id_challenge', classement: 'id_auteur' }

/** A typical client: a base address, a cookie, and responses. It reads only their bodies. */
class Client {
  cookie = ''
  requests = 0

  constructor(private readonly base: string) {}

  async ask(path: string, init: RequestInit = {}): Promise<unknown> {
    this.requests++
    const url = path.startsWith('http') ? path : `${this.base}${path}`
    const response = await fetch(url, { ...init, headers: { ...(init.headers as object), cookie: this.cookie } })
    return response.json()
  }

  page(path: string): Promise<Page> {
    return this.ask(path) as Promise<Page>
  }

  /** Keeps the session in the response to a login. */
  async signIn(path: string, init?: RequestInit): Promise<void> {
    const [{ info }] = (await this.ask(path, init)) as [{ info: { code: number; spip_session: string } }]
    expect(info.code).toBe(200)
    this.cookie = `spip_session=${info.spip_session}`
  }
}

/** Follows `next` from the first page. */
async function walkByLinks(client: Client, collection: string): Promise<Row[]> {
  const found: Row[] = []
  for (let address: string | undefined = `/${collection}`; address; ) {
    const [rows, ...links]: Page = await client.page(address)
    found.push(...Object.values(rows))
    address = links.find(({ rel }) => rel === 'next')?.href
  }
  return found
}

/** Some clients read no links but the number after the only `=` of the last one. */
async function walkByLastNumber(client: Client, collection: string): Promise<Row[]> {
  const found: Row[] = []
  for (let debut = 0; ; ) {
    const page = await client.page(`/${collection}?debut_${collection}=${debut}`)
    found.push(...Object.values(page[0]))
    const last = page.at(-1) as Page[1]
    if (last.rel !== 'next') return found
    debut = Number(last.href.split('=')[1])
  }
}

/** Adds 50 until a page is missing, short or already seen. */
async function walkByFifty(client: Client, collection: 'auteurs' | 'challenges' | 'classement'): Promise<Row[]> {
  const found: Row[] = []
  const seen = new Set<string>()
  for (let debut = 0; ; debut += 50) {
    const [rows] = await client.page(`/${collection}?debut_${collection}=${debut}`)
    if ('error' in rows) return found
    for (const row of Object.values(rows)) {
      const id = row[nameOf[collection]]!
      if (seen.has(id)) return found
      seen.add(id)
      found.push(row)
    }
    if (Object.keys(rows).length < 50) return found
  }
}

/** Requests a row past the end, then follows `previous` to the first page. */
async function walkBackwards(client: Client, collection: string): Promise<Row[]> {
  let found: Row[] = []
  for (let address: string | undefined = `/${collection}?debut_${collection}=9999999`; address; ) {
    const [rows, ...links]: Page = await client.page(address)
    found = [...Object.values(rows), ...found]
    address = links.find(({ rel }) => rel === 'previous')?.href
  }
  return found
}

/** Counts without a total, by bisecting for the row at which the last page starts. */
async function countByBisection(client: Client, collection: string): Promise<{ count: number; last: Row }> {
  const read = async (debut: number) =>
    Object.values((await client.page(`/${collection}?debut_${collection}=${debut}`))[0])
  const last = (await read(9_999_999)).at(-1)!
  let [low, high] = [0, 4_096]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const rows = await read(middle)
    const isPast = JSON.stringify(rows.at(-1)) === JSON.stringify(last) && rows.length !== 1
    if (isPast && (await read(middle + 1)).length >= rows.length) high = middle
    else low = middle
  }
  return { count: low + (await read(low)).length, last }
}

/**
 * A client that follows a link only if its scheme and host equal the base address, and requests the path of the link there.
 * It works only at the root of a host.
 */
class StrictClient extends Client {
  constructor(
    private readonly address: string,
    key: string,
  ) {
    super(address)
    this.cookie = `api_key=${key}`
  }

  override page(path: string): Promise<Page> {
    if (!path.startsWith('http')) return super.page(path)
    const { protocol, host, pathname, search } = new URL(path)
    if (`${protocol}//${host}` !== this.address) throw new Error(`${path} is no address of ${this.address}`)
    return super.page(`${pathname}${search}`)
  }
}

const settings = { loginRateLimit: 1_000, loginAddressRateLimit: 1_000, rootmeHost: ['localhost'] }

describe.each(engines)('clients of the dialect on %s get the whole portal', (engine) => {
  let server: TestServer
  let client: Client
  beforeAll(async () => {
    server = await startServer(lines, { engine, settings })
    client = new Client(`${server.url}/rootme`)
    client.cookie = `api_key=${server.key}`
  })
  afterAll(() => server.close())

  const walks = { walkByLinks, walkByLastNumber, walkByFifty, walkBackwards }
  describe.each(Object.entries(walks))('%s', (_, walk) => {
    test.each(collections)('finds every row of %s once, in order', async (collection) => {
      const found = await walk(client, collection)
      expect(found.map((row) => row[nameOf[collection]])).toEqual(idsOf[collection])
    })
  })

  test.each(collections)(
    'a client that follows only links to its own host finds every row of %s at that host',
    async (name) => {
      const { port } = new URL(server.url)
      const found = await walkByLinks(new StrictClient(`http://localhost:${port}`, server.key), name)
      expect(found.map((row) => row[nameOf[name]])).toEqual(idsOf[name])
      const below = new StrictClient(`${server.url}/rootme`, server.key)
      await expect(walkByLinks(below, name)).rejects.toThrow('is no address of')
    },
  )

  test.each(collections)(
    'a client that bisects finds the number of rows of %s, and the last one',
    async (collection) => {
      const { count, last } = await countByBisection(client, collection)
      expect([count, last[nameOf[collection]]]).toEqual([idsOf[collection].length, idsOf[collection].at(-1)])
    },
  )

  test('a client that keeps a scoreboard finds every place, name and score', async () => {
    const rows = await walkByLinks(client, 'classement')
    const score = (row: (typeof classement)[number]) => row.score as number
    expect(rows).toEqual(
      classement.map((row) => ({
        place: 1 + classement.filter((other) => score(other) > score(row)).length,
        id_auteur: String(row.id_auteur),
        nom: row.nom,
        score: String(row.score),
      })),
    )
  })

  test('a client that wants the last solver, or all of them, follows the links of validations', async () => {
    const found: Row[] = []
    for (let address: string | undefined = '/challenges/9000'; address; ) {
      const [payload, ...links] = (await client.ask(address)) as [{ validations: Record<string, Row> }, ...Page[1][]]
      found.push(...Object.values(payload.validations))
      address = links.find(({ rel }) => rel === 'next')?.href
    }
    expect(found.map(({ id_auteur }) => id_auteur)).toEqual(idsOf.auteurs.toReversed())
    const [payload] = (await client.ask('/challenges/9000?debut_validations=9999999')) as [{ validations: object }]
    expect(Object.values(payload.validations).at(-1)).toEqual(found.at(-1))
  })

  test('a client that watches a member gets a name, a score, a number as position, and the latest solve first', async () => {
    const member = (await client.ask('/auteurs/1')) as Record<string, unknown> & { validations: Row[] }
    const [own] = auteurs
    const place = 1 + classement.filter(({ score }) => score > own.score).length
    expect(member).toMatchObject({ nom: own.nom, score: String(own.score), position: place })
    const dates = member.validations.map(({ date }) => date!)
    expect(dates).toEqual(dates.toSorted().toReversed())
    expect(member.validations[0]).toMatchObject({ id_challenge: '9000', date: '2026-01-01 02:00:00' })
  })

  test('a client that searches a name reads the id of the first match, and gets 404 without matches', async () => {
    const { nom, id_auteur } = auteurs[100]
    const [rows] = await client.page(`/auteurs?nom=${encodeURIComponent(nom)}&debut_auteurs=0`)
    expect(Object.values(rows)).toContainEqual({ id_auteur: String(id_auteur), nom })
    expect(await client.ask('/auteurs?nom=nobody%20is%20called%20so')).toMatchObject([{ error: { code: 404 } }])
  })

  describe('a client that signs in', () => {
    const { login, password } = ACCOUNT
    const json = { 'content-type': 'application/json' }
    const logins: Record<string, (own: Client) => Promise<void>> = {
      'by a POST form': (own) =>
        own.signIn('/login', { method: 'POST', body: new URLSearchParams({ login, password }) }),
      'by POST JSON': (own) =>
        own.signIn('/login', { method: 'POST', headers: json, body: JSON.stringify({ login, password }) }),
      'by a GET query': (own) => own.signIn(`/login?${new URLSearchParams({ login, password })}`),
      'by its key, which it then drops': async (own) => {
        own.cookie = `api_key=${server.key}`
        await own.signIn('/login')
      },
    }
    test.each(Object.keys(logins))('%s reads everything with the session alone', async (way) => {
      const own = new Client(`${server.url}/rootme`)
      await logins[way]!(own)
      expect(own.cookie).toMatch(/^spip_session=1_[\w-]{43}$/)
      expect((await walkByLinks(own, 'auteurs')).map(({ nom }) => nom)).toEqual(auteurs.map(({ nom }) => nom))
    })
  })
})
