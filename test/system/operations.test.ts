import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { get as httpsGet, request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { EVERYTHING } from '../../src/store/journal.js'
import { openStore } from '../../src/store/open.js'
import { ACCOUNT, engines, makeFolder, startServer, type TestServer, waitForChanges } from '../harness.js'
import { hasOpenssl, OPENSSL } from '../openssl.js'
import { PATIENCE } from '../patience.js'
import { dropDatabase } from '../servers/postgres.js'
import { exchange, petitPortail, postLogin, problemOf, sessionOf } from '../wire.js'

const TABLEAU = 'https://tableau.example'

for (const engine of engines) {
  describe(engine, () => {
    let server: TestServer
    afterEach(() => server.close().catch(() => undefined))

    const start = async (options: Parameters<typeof startServer>[1] = {}) => {
      server = await startServer(petitPortail, { engine, ...options })
    }
    const metricsText = () => server.metrics.registry.metrics()

    describe('the log', () => {
      test('has a JSON line for each request: its id, route, status, time, address and account', async () => {
        await start()
        const { headers } = await server.get('/challenges/1?titre=x')
        const lines = await vi.waitUntil(() => {
          const found = server.log.filter((line) => line.includes(`"request_id":"${headers.get('x-request-id')}"`))
          return found.length > 0 && found
        }, PATIENCE)
        expect(lines.map((line) => JSON.parse(line))).toMatchObject([
          { method: 'GET', route: '/challenges/:id_challenge', status: 200, address: '127.0.0.1', compte: 1 },
        ])
      })

      test('and the metrics contain no secret at any level, wherever it was sent', async () => {
        await start({ logLevel: 'trace' })
        const session = (await sessionOf(server)).slice('service_session='.length)
        const mot = 'mot de passe secret'
        const encoded = encodeURIComponent(mot)
        const secrets = [server.key, session, mot, encoded, mot.replaceAll(' ', '+'), ACCOUNT.password, 'secret']
        const paths = [
          '/challenges',
          '/challenges/1',
          '/nothing',
          '/login',
          '/%zz',
          '/cles_api',
          '/openapi.json',
          '/health/live',
        ]
        for (const path of paths) {
          for (const query of [
            `password=${encoded}&api_key=${server.key}`,
            `${server.key}&x=%ff${encoded}`,
            `lang=%zz${encoded}`,
          ]) {
            for (const method of ['GET', 'POST', 'DELETE', 'TRACE', 'HEAD']) {
              const cookie = `service_session=${session}; api_key=${server.key}; ${encoded}=${encoded}`
              await exchange(
                server.url,
                `${method} ${path}?${query} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nCookie: ${cookie}\r\n` +
                  `Authorization: Bearer ${encoded}\r\nUser-Agent: ${encoded}\r\nReferer: http://a/login?password=${encoded}\r\n` +
                  `X-Request-Id: ${encoded}\r\n${server.key}: 1\r\n\r\n`,
              )
            }
          }
        }
        for (const bytes of [
          `GET /${server.key}/${encoded} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
          `GET /%zz${encoded} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
          `${server.key} / HTTP/1.1\r\n\r\n`,
          `GET / HTTP/1.1\r\nHost: ${mot}\r\nConnection: close\r\n\r\n`,
          `GET / HTTP/1.1\r\nHost: a\r\n${mot} ${session}\r\n\r\n`,
          `GET /?${encoded}${'a'.repeat(9_000)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
          `GET /?${encoded}${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
          `POST /login HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${mot}\r\n`,
        ]) {
          await exchange(server.url, bytes)
        }
        for (const body of [
          { login: mot, password: mot },
          { login: mot },
          `{"login":"${mot}`,
          `["${mot}"]`,
          { [mot]: 1 },
        ]) {
          await postLogin(server, body, { cookie: `service_session=${session}` })
          await postLogin(server, body, { 'content-type': `text/${encoded}` })
        }
        for (const form of [`login=${encoded}&password=${encoded}`, `${encoded}=%zz`, `login=a&login=${encoded}`]) {
          await server.anonymous('/login', { method: 'POST', body: new URLSearchParams(form) })
          await postLogin(server, form, { 'content-type': 'application/x-www-form-urlencoded' })
        }
        const text = server.log.join('') + (await metricsText())
        expect(server.log.length).toBeGreaterThan(100)
        for (const secret of secrets) expect(text).not.toContain(secret)
      })
    })

    describe('health', () => {
      test('is live and ready without a credential, is not limited, and is neither logged nor counted', async () => {
        await start({ logLevel: 'trace', settings: { rateLimit: 1, addressRateLimit: 1 } })
        for (let i = 0; i < 5; i++) {
          for (const state of ['live', 'ready']) {
            const response = await server.anonymous(`/health/${state}`)
            expect([response.status, await response.text()]).toEqual([200, `{"status":"${state}"}`])
            expect(response.headers.get('cache-control')).toBe('no-store')
          }
        }
        expect(server.log.filter((line) => line.includes('health'))).toEqual([])
        await problemOf(await server.anonymous('/health/live', { method: 'POST' }), 'method_not_allowed')
      })

      test('reports a damaged or missing store: ready fails, live succeeds, and requests are a 503', async () => {
        await start()
        await server.get('/auteurs')
        await damage(server)
        const ids: string[] = []
        for (const path of ['/auteurs', '/challenges/1', '/health/ready']) {
          const response = await server.get(path)
          expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
          const { detail, request_id } = await problemOf(response, 'store_unavailable')
          expect(detail).not.toMatch(/sqlite|postgres|portal\.db|database/i)
          ids.push(request_id)
        }
        // The cause is logged once a minute, with the first request that met it.
        const faults = server.log.map((line) => JSON.parse(line)).filter(({ level }) => level === 50)
        expect(faults).toMatchObject([
          {
            request_id: ids[0],
            err: expect.stringContaining(engine === 'sqlite' ? 'portal.db' : new URL(server.database).pathname),
          },
        ])
        await problemOf(await postLogin(server), 'store_unavailable')
        expect((await server.anonymous('/health/live')).status).toBe(200)
      })
    })

    test('an internal error is logged with its cause under the request id, and reveals nothing to the client', async () => {
      await start()
      const other = await openStore(server.database, { create: false })
      // PostgreSQL reports a missing column as a fault of the store; a failing division is an internal error.
      const fault =
        engine === 'sqlite'
          ? 'alter table auteurs rename column nom to elsewhere'
          : `alter table auteurs rename to elsewhere;
             create view auteurs as select id_auteur, (1 / (id_auteur * 0))::text as nom from elsewhere`
      await other.write({ donnees: EVERYTHING }, async (db) => void (await db.exec(fault)))
      await other.close()
      await waitForChanges(server)
      const { detail, request_id } = await problemOf(await server.get('/auteurs'), 'internal_error')
      expect(detail).not.toMatch(/auteurs|nom/)
      const line = server.log.find((each) => each.includes(request_id) && each.includes('"level":50'))
      expect(JSON.parse(line!).err).toMatchObject({
        message: expect.stringMatching(/column|division/),
        stack: expect.any(String),
      })
    })

    describe('the metrics', () => {
      test('count responses by route and status, problems by code, and results of the cache', async () => {
        await start()
        for (const path of ['/challenges/1', '/challenges/1', '/nothing/at/all', '/challenges/99'])
          await server.get(path)
        const text = await vi.waitUntil(async () => {
          const found = await metricsText()
          return found.includes('palmares_http_requests_running 0') && found
        }, PATIENCE)
        const route = 'palmares_http_request_duration_seconds_count{method="GET",route='
        expect(text).toContain(`${route}"/challenges/:id_challenge",status="200"} 2`)
        expect(text).toContain(`${route}"/challenges/:id_challenge",status="404"} 1`)
        expect(text).toContain(`${route}"*",status="404"} 1`)
        expect(text).toContain('palmares_http_problems_total{code="path_not_found"} 1')
        expect(text).toContain('palmares_response_cache_total{result="hit"} 1')
        expect(text).toMatch(/^nodejs_eventloop_lag_seconds /m)
      })

      test('count every request as ended once its client is answered or disconnected', async () => {
        await start({ settings: { requestTimeoutSeconds: 1 } })
        const head = 'POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
        await exchange(server.url, `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`)
        await exchange(server.url, `${head}Content-Length: 9\r\n\r\n{`)
        await exchange(server.url, 'GET /%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
        await vi.waitUntil(async () => (await metricsText()).includes('palmares_http_requests_running 0'), PATIENCE)
        expect(server.log.filter((line) => line.includes('"level":50'))).toEqual([])
      })
    })

    describe('CORS', () => {
      const fromTableau = (headers = {}) => ({ headers: { origin: TABLEAU, ...headers } })
      const preflight = (origin: string, path = '/challenges') =>
        server.anonymous(path, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'GET' } })
      const allowed = ({ headers }: Response) => [...headers.keys()].filter((name) => name.startsWith('access-control'))

      test('is off by default: no headers, and a preflight is a request without a credential', async () => {
        await start()
        expect(allowed(await server.get('/challenges', fromTableau()))).toEqual([])
        const response = await preflight(TABLEAU)
        expect(allowed(response)).toEqual([])
        await problemOf(response, 'credential_missing')
      })

      test('answers the preflight of a configured origin without a credential, on any path', async () => {
        await start({ settings: { corsOrigin: [TABLEAU], rateLimit: 1, addressRateLimit: 1 } })
        for (const path of ['/challenges', '/cles_api', '/nothing']) {
          const { status, headers } = await preflight(TABLEAU, path)
          expect([status, headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([
            204,
            TABLEAU,
            'Origin',
          ])
          expect(headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, PATCH, DELETE')
          expect(headers.get('access-control-allow-headers')).toMatch(/Authorization/)
          expect(headers.has('access-control-allow-credentials')).toBe(false)
        }
      })

      test('exposes the headers of the API on all responses, never with credentials', async () => {
        await start({ settings: { corsOrigin: [TABLEAU], rateLimit: 600 } })
        const bearer = fromTableau({ authorization: `Bearer ${server.key}` })
        for (const response of [
          await server.anonymous('/challenges', bearer),
          await server.anonymous('/challenges', fromTableau()),
          await server.anonymous('/nothing', bearer),
        ]) {
          const { headers } = response
          expect([headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([TABLEAU, 'Origin'])
          expect(headers.has('access-control-allow-credentials')).toBe(false)
          const exposed = headers.get('access-control-expose-headers')!.toLowerCase().split(', ')
          const own = [...headers.keys()].filter((name) => /^(x-(?!content)|api|etag|link|rate|retry|www)/.test(name))
          expect(own.length).toBeGreaterThan(3)
          for (const name of own) expect(exposed).toContain(name)
        }
      })

      for (const origin of [
        'https://tableau.example.evil.example',
        'http://tableau.example',
        `${TABLEAU}:444`,
        'null',
        '*',
      ]) {
        test(`gives ${origin} no headers if ${TABLEAU} is configured`, async () => {
          await start({ settings: { corsOrigin: [TABLEAU] } })
          const answers = [await server.get('/challenges', { headers: { origin } }), await preflight(origin)]
          expect(answers.map(({ status }) => status)).toEqual([200, 401])
          for (const answer of answers) expect([allowed(answer), answer.headers.get('vary')]).toEqual([[], 'Origin'])
          await problemOf(await postLogin(server, undefined, { origin }), 'foreign_origin')
        })
      }

      test('accepts a configured origin as its own', async () => {
        await start({ settings: { corsOrigin: [TABLEAU] } })
        expect((await postLogin(server, undefined, { origin: TABLEAU, 'sec-fetch-site': 'cross-site' })).status).toBe(
          200,
        )
      })

      test('accepts GET /login from a page of a configured origin on the same site, but not from a browser navigation', async () => {
        await start({ settings: { corsOrigin: [TABLEAU] } })
        const signIn = (headers: Record<string, string>) =>
          server.anonymous(`/login?${new URLSearchParams({ login: ACCOUNT.login, password: ACCOUNT.password })}`, {
            headers: { 'sec-fetch-site': 'same-site', ...headers },
          })
        expect((await signIn({ origin: TABLEAU })).status).toBe(200)
        await problemOf(await signIn({ origin: `${TABLEAU}:444` }), 'foreign_origin')
        await problemOf(await signIn({}), 'foreign_origin')
        expect((await exchange(server.url, navigation(TABLEAU))).slice(9, 12)).toBe('403')
      })
    })

    test.skipIf(!hasOpenssl())('with TLS, cookies are Secure and links start with https', async () => {
      const folder = makeFolder()
      const [tlsKey, tlsCert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
      const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
      const keys = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-keyout', tlsKey, '-out', tlsCert]
      execFileSync(OPENSSL, ['req', '-x509', '-nodes', '-days', '2', ...keys, ...subject], { stdio: 'ignore' })
      await start({ settings: { tlsKey, tlsCert } })
      const ca = readFileSync(tlsCert)
      rmSync(folder, { recursive: true })
      expect(server.url).toMatch(/^https:/)
      const list = await answerOf(
        httpsGet(`${server.url}/challenges`, { ca, headers: { cookie: `api_key=${server.key}` } }),
      )
      expect([list.statusCode, list.headers.link]).toEqual([200, expect.stringContaining(`<${server.url}/challenges?`)])
      const login = httpsRequest(`${server.url}/login`, {
        ca,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      })
      login.end(JSON.stringify({ login: ACCOUNT.login, password: ACCOUNT.password }))
      expect((await answerOf(login)).headers['set-cookie']?.[0]).toMatch(/; Secure$/)
      const old = httpsGet(`${server.url}/health/live`, { ca, maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' })
      await expect(answerOf(old)).rejects.toThrow()
      expect(await exchange(server.url, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n').catch(() => '')).not.toMatch(
        /HTTP\/1\.1 200/,
      )
    })
  })
}

/** Drops the database, or overwrites the start of its files after a change that makes the server read them. */
async function damage(server: TestServer): Promise<void> {
  if (server.store.engine === 'postgres') return dropDatabase(server.database)
  const other = await openStore(server.database, { create: false })
  await other.write({ comptes: true, donnees: EVERYTHING }, async () => undefined)
  await other.close()
  const path = server.database.slice('sqlite:'.length)
  for (const file of [path, `${path}-wal`]) {
    const descriptor = openSync(file, 'r+')
    writeSync(descriptor, Buffer.alloc(statSync(file).size, 'x'), 0, statSync(file).size, 0)
    closeSync(descriptor)
  }
}

function answerOf(request: ReturnType<typeof httpsGet>): Promise<import('node:http').IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('error', reject).on('response', (response) => resolve(response.resume()))
  })
}

/** The request of a browser that follows a link to sign in. Node's fetch sets Sec-Fetch-Mode itself. */
function navigation(origin: string): string {
  const line = `GET /login?login=${ACCOUNT.login}&password=x HTTP/1.1`
  return [line, 'Host: a', `Origin: ${origin}`, 'Sec-Fetch-Mode: navigate', 'Connection: close', '', ''].join('\r\n')
}
