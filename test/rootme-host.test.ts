import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { portail } from './fixtures.js'
import { ACCOUNT, type AppOptions, type DumpLine, startServer, type TestServer } from './harness.js'
import { dialectErrorOf, exchange, parseAnswer, problemOf } from './wire.js'

const crowd: DumpLine[] = Array.from({ length: 60 }, (_, i) => ({ type: 'auteur', id_auteur: 1_000 + i, nom: `n${i}` }))
const HOST = 'rm.example'

interface Asking {
  host?: string
  method?: string
  headers?: Record<string, string>
}

/** One request with a chosen Host, and the key of ACCOUNT unless `headers` replaces it. */
function ask(server: TestServer, path: string, { host = HOST, method = 'GET', headers = {} }: Asking = {}) {
  const all = { cookie: `api_key=${server.key}`, connection: 'close', ...headers, host }
  return new Promise<Response>((resolve, reject) => {
    const sent = request(server.url, { path, method, headers: all }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () => {
        const status = answer.statusCode as number
        const fields = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as [string, string])
        resolve(new Response([204, 304].includes(status) ? null : Buffer.concat(chunks), { status, headers: fields }))
      })
    })
    sent.on('error', reject).end()
  })
}

type Link = { rel: string; href: string }

/** The address of the next page, from the first page of authors. */
async function nextOf(server: TestServer, path: string, asking?: Asking): Promise<string> {
  const answer = await ask(server, path, asking)
  expect(answer.status).toBe(200)
  const [, ...links] = (await answer.json()) as [object, ...Link[]]
  return links.find(({ rel }) => rel === 'next')!.href
}

async function serving<T>(settings: AppOptions['settings'], work: (server: TestServer) => Promise<T>): Promise<T> {
  const server = await startServer([...portail, ...crowd], { settings: { rootmeHost: [HOST], ...settings } })
  return work(server).finally(() => server.close())
}

describe('a host with the dialect at its root', () => {
  let server: TestServer
  beforeAll(async () => {
    const settings = { rootmeHost: [HOST, 'other.example'], corsOrigin: ['https://tableau.example'] }
    server = await startServer([...portail, ...crowd], { settings })
  })
  afterAll(() => server.close())

  test.each([HOST, 'RM.Example', 'rm.example:8443', 'rm.example.', 'Rm.EXAMPLE.:80', 'other.example'])(
    'is recognised by its name as %s, and its links use the requested host',
    async (host) => {
      expect(await nextOf(server, '/auteurs', { host })).toBe(`http://${host}/auteurs?debut_auteurs=50`)
    },
  )

  test.each(['x.rm.example', 'rm.example.evil.example', 'm.example', '127.0.0.1'])(
    'is distinguished from %s, which serves the contract, and the dialect below /rootme',
    async (host) => {
      const answer = await ask(server, '/auteurs', { host })
      expect(answer.headers.get('link')).toContain(`<http://${host}/auteurs?debut_auteurs=0>; rel="first"`)
      expect(await nextOf(server, '/rootme/auteurs', { host })).toBe(`http://${host}/rootme/auteurs?debut_auteurs=50`)
    },
  )

  test('answers every path of the dialect as below the prefix, except for links', async () => {
    for (const path of ['/challenges', '/challenges/1', '/auteurs/2', '/classement', '/environnements_virtuels/3']) {
      const [at, below] = [await ask(server, path), await ask(server, `/rootme${path}`, { host: 'a.example' })]
      const text = (await below.text()).replaceAll('a.example/rootme', HOST)
      expect([path, at.status, await at.text()]).toEqual([path, 200, text])
    }
  })

  test('signs in at /login with a cookie for the whole host, which is accepted there', async () => {
    const query = new URLSearchParams({ login: ACCOUNT.login, password: ACCOUNT.password })
    const answer = await ask(server, `/login?${query}`, { headers: { cookie: '' } })
    const cookie = answer.headers.get('set-cookie')!
    expect(cookie).toMatch(/^spip_session=1_[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/)
    const read = await ask(server, '/auteurs/1', { headers: { cookie: cookie.split(';')[0]! } })
    expect(read.status).toBe(200)
    const page = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    await dialectErrorOf(await ask(server, `/login?${query}`, { headers: page }), 403)
    expect((await ask(server, `/login?${query}`, { headers: { origin: `http://${HOST}` } })).status).toBe(200)
  })

  test.each([
    '/',
    '/docs',
    '/openapi.json',
    '/rubriques',
    '/p/1',
    '/cles_api',
    '/rootme/auteurs',
    '/nulle-part',
    '/%zz',
  ])('serves nothing else: %s is a 404 in the form of the dialect, or a 401 without a credential', async (path) => {
    await dialectErrorOf(await ask(server, path), 404)
    expect(await dialectErrorOf(await ask(server, path, { headers: { cookie: '' } }), 401)).not.toContain('/rootme')
  })

  test('refuses malformed requests in the form of the dialect', async () => {
    const refused = await ask(server, '/auteurs/1', { method: 'DELETE' })
    expect(refused.headers.get('allow')).toBe('GET, HEAD')
    await dialectErrorOf(refused, 405)
    await dialectErrorOf(await ask(server, `/auteurs?x=${'a'.repeat(9_000)}`), 414)
    const twice = `GET /auteurs HTTP/1.1\r\nHost: ${HOST}\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`
    await dialectErrorOf(parseAnswer(await exchange(server.url, twice)), 400)
    await dialectErrorOf(await ask(server, '*', { method: 'OPTIONS' }), 404)
  })

  test('serves the probes', async () => {
    for (const probe of ['live', 'ready']) {
      const answer = await ask(server, `/health/${probe}`, { headers: { cookie: '' } })
      expect([answer.status, await answer.json()]).toEqual([200, { status: probe }])
    }
    await problemOf(await ask(server, '/health/nothing'), 'path_not_found')
  })

  test('shares CORS, the cache, ETags and the names of routes', async () => {
    const headers = { origin: 'https://tableau.example', 'access-control-request-method': 'GET' }
    const preflight = await ask(server, '/auteurs', { method: 'OPTIONS', headers })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, headers.origin])
    const etag = (await ask(server, '/auteurs/12')).headers.get('etag')!
    const again = await ask(server, '/auteurs/12/?_=1', { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
    const line = server.log.findLast((each) => each.includes('"route":"/rootme/auteurs/:id"'))
    expect(line).toBeDefined()
    expect(await server.metrics.registry.metrics()).toContain('route="/rootme/auteurs/:id"')
  })

  test('never serves a response cached for another host', async () => {
    for (let round = 0; round < 2; round++) {
      for (const host of [HOST, `${HOST}:81`, 'other.example']) {
        expect(await nextOf(server, '/auteurs', { host })).toBe(`http://${host}/auteurs?debut_auteurs=50`)
      }
    }
  })
})

test('beside a public address, the links keep the host of the dialect, with the scheme and cookies of that address', async () => {
  await serving({ publicUrl: 'https://api.example/v1/' }, async (server) => {
    expect(await nextOf(server, '/auteurs')).toBe(`https://${HOST}/auteurs?debut_auteurs=50`)
    expect(await nextOf(server, '/rootme/auteurs', { host: 'a.example' })).toBe(
      'https://api.example/v1/rootme/auteurs?debut_auteurs=50',
    )
    const { headers } = await ask(server, '/login')
    expect(headers.get('set-cookie')).toMatch(/; Path=\/; .*; Secure$/)
    const own = await ask(server, '/login', { headers: { origin: `https://${HOST}` } })
    expect(own.status).toBe(200)
  })
})

test('the host is recognised in X-Forwarded-Host from a trusted proxy, and never from a stranger', async () => {
  const forwarded = { 'x-forwarded-host': `a.example, ${HOST}`, 'x-forwarded-proto': 'https' }
  await serving({ trustProxy: 'loopback' }, async (server) => {
    const asking = { host: '10.0.0.1:8080', headers: { cookie: `api_key=${server.key}`, ...forwarded } }
    expect(await nextOf(server, '/auteurs', asking)).toBe(`https://${HOST}/auteurs?debut_auteurs=50`)
    const away = await ask(server, '/auteurs', { headers: { 'x-forwarded-host': 'a.example' } })
    expect(away.headers.get('link')).toContain('<http://a.example/auteurs?')
  })
  await serving({}, async (server) => {
    const asking = { host: 'a.example', headers: { cookie: `api_key=${server.key}`, ...forwarded } }
    expect((await ask(server, '/auteurs', asking)).headers.get('link')).toContain('<http://a.example/auteurs?')
    expect(await nextOf(server, '/auteurs', { headers: { 'x-forwarded-host': 'a.example' } })).toContain(`//${HOST}/`)
  })
})
