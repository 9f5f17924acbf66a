import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalogue } from '../src/errors.js'
import { addKey, engines, startServer, type TestServer } from './harness.js'
import { exchange, parseAnswer, petitPortail, postLogin, problemOf, sessionOf } from './wire.js'

const KIB = 1024

for (const engine of engines) {
  describe(engine, () => {
    let server: TestServer
    let key: string
    beforeAll(async () => {
      server = await startServer(petitPortail, { engine })
      key = `Cookie: api_key=${server.key}\r\n`
    })
    afterAll(() => server.close())

    /** The response to some bytes. A well-formed request needs Connection: close. */
    const send = async (...parts: (string | Buffer)[]) => parseAnswer(await exchange(server.url, ...parts))
    const request = (line: string, head = '', body = '') =>
      send(`${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${head}\r\n${body}`)
    const session = async () => ({ cookie: await sessionOf(server) })
    const call = async (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
      server.anonymous(path, { method, headers, ...(body === undefined ? {} : { body }) })

    describe('malformed bytes get a problem too', () => {
      const malformed: Record<string, string> = {
        'no request line': 'GARBAGE\r\n\r\n',
        'an unknown method': 'FOO /challenges HTTP/1.1\r\nHost: a\r\n\r\n',
        'a method in lower case': 'get /challenges HTTP/1.1\r\nHost: a\r\n\r\n',
        'a line without its end': 'GET /challenges HTTP/1.1\rHost: a\r\n\r\n',
        'a header without a colon': 'GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n',
        'a space before the colon': 'GET / HTTP/1.1\r\nHost : a\r\n\r\n',
        'a folded header': 'GET / HTTP/1.1\r\n Host: a\r\n\r\n',
        'NUL in the path': 'GET /chal\0lenges HTTP/1.1\r\nHost: a\r\n\r\n',
        'NUL in a header': 'GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n',
        'a path that does not begin with a slash': 'GET challenges HTTP/1.1\r\nHost: a\r\n\r\n',
        'another protocol': 'DESCRIBE / RTSP/1.0\r\n\r\n',
        'HTTP/2 without asking': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
        'a TLS greeting': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n',
        'two lengths': 'POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
        'a length that is no number': 'POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: 2x\r\n\r\n{}',
        'a negative length': 'POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n{}',
        'a length and chunks': [
          'POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n',
          '0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
        ].join(''),
        'chunks and a length':
          'POST /login HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0',
        'chunks that are not last':
          'POST /login HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n',
        'a chunk without a size':
          'POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
        CONNECT: 'CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\n\r\n',
      }
      for (const [what, bytes] of Object.entries(malformed)) {
        test(`${what}: 400`, async () => {
          const text = await exchange(server.url, Buffer.from(bytes, 'latin1'))
          expect(text.match(/HTTP\/1\.1 \d/g)).toHaveLength(1)
          await problemOf(parseAnswer(text), 'malformed_request')
        })
      }

      for (const line of ['GET / HTTP/2.0', 'GET / HTTP/9.9', 'GET / HTTP/1.2', 'GET / HTTP/0.9', 'GET /']) {
        test(`${line}: an unsupported version is a 505`, async () => {
          await problemOf(await send(`${line}\r\nHost: a\r\n\r\n`), 'http_version_unsupported')
        })
      }

      test('a line feed without a carriage return after a good version is a 400', async () => {
        await problemOf(await send('GET / HTTP/1.1\nHost: a\r\n\r\n'), 'malformed_request')
      })

      for (const path of ['/challenges', '/rootme/challenges', '/health/live']) {
        test(`two Authorization headers for ${path}: 400 that names the header, even if they are equal`, async () => {
          const bearer = `Authorization: Bearer ${server.key}\r\n`
          const answer = await request(`GET ${path}`, `${bearer}${bearer.toLowerCase()}`)
          const fault = expect.stringMatching(/authorization was given twice/i)
          expect([answer.status, await answer.text()]).toEqual([400, fault])
        })
      }

      test('a transfer coding before chunked: 501, and nothing after it is read as a request', async () => {
        const head = `POST /login HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`
        const text = await exchange(server.url, `${head}GET /challenges HTTP/1.1\r\nHost: a\r\n\r\n`)
        expect(text.match(/HTTP\/1\.1 \d/g)).toHaveLength(1)
        await problemOf(parseAnswer(text), 'transfer_coding_unsupported')
      })

      for (const encoding of ['utf8', 'latin1'] as const) {
        for (const path of ['/auteurs?nom=\xc9lodie', '/rootme/auteurs?nom=\xc9lodie', '/auteurs/\xc9', '/\xe9']) {
          test(`${encoding} bytes in ${path}: 400 that says to percent-encode them`, async () => {
            const bytes = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: a\r\n${key}\r\n`, encoding)
            const { detail, errors } = await problemOf(await send(bytes), 'malformed_request')
            expect(detail).toBe('The URL has bytes that are not ASCII; send them percent-encoded, as UTF-8.')
            expect(errors).toEqual([{ parameter: 'url', message: 'has bytes that are not ASCII; percent-encode them' }])
          })
        }
      }

      test('a query or a header of 100 KB: 431', async () => {
        const long = 'a'.repeat(100_000)
        for (const bytes of [`GET /challenges?titre=${long} HTTP/1.1\r\n`, `GET / HTTP/1.1\r\nX: ${long}\r\n`]) {
          const { detail } = await problemOf(await send(`${bytes}Host: a\r\n\r\n`), 'headers_too_large')
          expect(detail).toBe(catalogue.headers_too_large.detail)
        }
      })

      test('a URL and headers just over 16 KiB together: 431, just under: answered', async () => {
        const query = `/challenges?x=${'a'.repeat(7_000)}`
        await problemOf(await request(`GET ${query}`, `X: ${'a'.repeat(9_500)}\r\n`), 'headers_too_large')
        expect((await request(`GET ${query}`, `X: ${'a'.repeat(8_900)}\r\n${key}`)).status).toBe(200)
      })

      test('a head or a body that does not arrive in time: 408', async () => {
        const head = 'POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99\r\n'
        const hasty = await startServer(petitPortail, { engine, settings: { requestTimeoutSeconds: 1 } })
        for (const bytes of [head, `${head}\r\n{"login":`])
          await problemOf(parseAnswer(await exchange(hasty.url, bytes)), 'request_timeout')
        await hasty.close()
      })

      test('a connection reset at any point does not affect the next one', async () => {
        for (const bytes of [
          'GET /chal',
          'POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{',
          'CONNECT a:1 ',
        ]) {
          await resetAfter(server.url, `${bytes}`)
        }
        await resetAfter(server.url, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
        expect((await server.get('/challenges')).status).toBe(200)
        expect(server.log.filter((line) => line.includes('internal_error'))).toEqual([])
      })
    })

    describe('a request line over 8 KiB that the parser accepts', () => {
      const path = (bytes: number) => `/challenges?x=${'a'.repeat(bytes - 'GET /challenges?x= HTTP/1.1'.length)}`

      test('is 414 before 401, to the byte', async () => {
        await problemOf(await request(`GET ${path(8 * KIB + 1)}`), 'uri_too_long')
        await problemOf(await request(`GET ${path(8 * KIB)}`), 'credential_missing')
        expect((await request(`GET ${path(8 * KIB)}`, key)).status).toBe(200)
      })

      test('is 414 also with an invalid path, id or encoding of the query', async () => {
        for (const start of ['/nothing/', '/challenges/', '/challenges?titre=%zz']) {
          await problemOf(await request(`GET ${start}${'1'.repeat(9_000)}`, key), 'uri_too_long')
        }
      })
    })

    describe('syntax errors found by the router or in the head are 400 before 401', () => {
      for (const path of ['/%zz', '/challenges/%', '/%ff', '/challenges/%c3%28', '/%e0%80%80']) {
        test(`percent-encoding in the path: ${path}`, async () => {
          const { errors } = await problemOf(await request(`GET ${path}?password=hunter2`), 'malformed_request')
          expect(errors?.[0]?.parameter).toBe('path')
        })
      }

      for (const host of [
        '',
        'a b',
        'a/b',
        'a@b',
        'user:pass@a',
        'a:b',
        'a:123456',
        '<script>',
        '[::1',
        'é',
        'a"b',
        '-',
      ]) {
        test(`Host ${JSON.stringify(host)}`, async () => {
          for (const path of ['/challenges', '/challenges/1', '/login', '/nothing']) {
            const bytes = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
            const { errors } = await problemOf(await send(Buffer.from(bytes)), 'malformed_request')
            expect(errors?.[0]?.parameter).toBe('host')
          }
        })
      }

      test('no Host, or two, in HTTP/1.1', async () => {
        for (const hosts of ['', 'Host: a\r\nHost: b\r\n', 'Host: a\r\nhost: a\r\n']) {
          const bytes = `GET /challenges HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`
          await problemOf(await send(bytes), 'malformed_request')
        }
      })

      test('HTTP/1.0 needs no Host, and a Host of a name, a port or an address is fine', async () => {
        expect((await send(`GET /challenges HTTP/1.0\r\n${key}\r\n`)).status).toBe(200)
        for (const host of ['a', 'a.example:8080', '[::1]:80', 'a_b', '127.0.0.1', 'EXAMPLE.org.']) {
          const bytes = `GET /challenges HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${key}\r\n`
          expect([host, (await send(bytes)).status]).toEqual([host, 200])
        }
      })
    })

    describe('unusual but well-formed requests are served', () => {
      test('Expect: 100-continue is answered, any other expectation is ignored', async () => {
        const head = 'Content-Type: application/json\r\nContent-Length: 2\r\n'
        const text = await exchange(
          server.url,
          `POST /login HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\n${head}\r\n{}`,
        )
        expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /)
        await problemOf(await request('POST /login', `Expect: fish\r\n${head}`, '{}'), 'invalid_parameter')
      })

      test.each([
        ['without a credential', 'POST /validations', 'Content-Length: 2', 401],
        ['with a body that is too large', 'POST /login', 'Content-Length: 99999999', 413],
        ['for a path that does not take a body', 'PUT /login', 'Content-Length: 2', 405],
      ])(
        'Expect: 100-continue %s gets its error at once, and the connection closes',
        async (_, line, length, status) => {
          const head = `Host: a\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n${length}`
          const text = await exchange(server.url, `${line} HTTP/1.1\r\n${head}\r\n\r\n`)
          expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
          expect(text).toMatch(/^connection: close\r$/im)
        },
      )

      test('10,000 values of id_auteur[] are refused safely, by size or by number', async () => {
        await problemOf(await request(`GET /challenges?${'id_auteur[]=1&'.repeat(10_000)}`, key), 'headers_too_large')
        const { errors } = await problemOf(
          await request(`GET /challenges?${'id_auteur[]=1&'.repeat(500)}`, key),
          'invalid_parameter',
        )
        expect(errors).toEqual([{ parameter: 'id_auteur[]', message: 'takes at most 100 values, not 500' }])
      })

      test('an absolute URL is treated as its path, whatever its host', async () => {
        expect((await request('GET http://evil.example/challenges', key)).headers.get('link')).toContain(
          '<http://localhost/challenges?',
        )
        await problemOf(await request('GET http://evil.example/challenges'), 'credential_missing')
      })

      test('an unsupported upgrade is ignored', async () => {
        const head = `Connection: Upgrade, close\r\nUpgrade: h2c\r\n${key}`
        expect((await send(`GET /challenges HTTP/1.1\r\nHost: a\r\n${head}\r\n`)).status).toBe(200)
      })

      for (const path of ['/./login', '/challenges/%2e%2e/login', '/login%2f', '/LOGIN', '/login;x', '/health', '*']) {
        test(`${path} gives no access without a credential`, async () => {
          const method = path === '*' ? 'OPTIONS' : 'GET'
          await problemOf(await request(`${method} ${path}`), 'credential_missing')
          await problemOf(await request(`${method} ${path}`, key), 'path_not_found')
        })
      }
    })

    describe('the order of checks', () => {
      test('401 before 404, 405, 413, 415 and 400', async () => {
        await problemOf(await call('GET', '/nothing'), 'credential_missing')
        await problemOf(await call('DELETE', '/challenges'), 'credential_missing')
        await problemOf(await call('GET', '/challenges/x?limite=x'), 'credential_missing')
        const json = { 'content-type': 'application/json' }
        await problemOf(await call('POST', '/cles_api', json, 'x'.repeat(20_000)), 'credential_missing')
        await problemOf(await call('POST', '/cles_api', { 'content-type': 'a/b' }, 'x'), 'credential_missing')
      })

      test('404 of a path and 405 before the body is read', async () => {
        const head = `${key}Content-Type: application/json\r\nContent-Length: 1000000\r\n`
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'TRACE', 'OPTIONS', 'QUERY', 'M-SEARCH']) {
          const response = await request(`${method} /challenges`, head)
          expect([method, response.headers.get('allow')]).toEqual([method, 'GET, HEAD'])
          await problemOf(response, 'method_not_allowed')
          await problemOf(await request(`${method} /nothing`, head), 'path_not_found')
        }
      })

      test('405 before 403, 403 before 413, 415 and 400', async () => {
        const foreign = { ...(await session()), origin: 'https://evil.example' }
        await problemOf(await call('PATCH', '/cles_api', foreign), 'method_not_allowed')
        await problemOf(await call('POST', '/cles_api', foreign, 'x'.repeat(20_000)), 'foreign_origin')
        await problemOf(await call('DELETE', '/cles_api/x', foreign), 'foreign_origin')
        const cookie = `api_key=${await addKey(server.store, 'alice')}`
        await problemOf(await call('POST', '/cles_api', { cookie }, 'x'.repeat(20_000)), 'session_required')
        await problemOf(await call('DELETE', '/cles_api/x', { cookie }), 'session_required')
      })

      test('400 before 404 of a record, 404 before 304', async () => {
        await problemOf(await server.get('/challenges/99?lang=%zz'), 'invalid_parameter')
        await problemOf(await server.get('/challenges/99', { headers: { 'if-none-match': '*' } }), 'resource_not_found')
        expect((await server.get('/challenges/1', { headers: { 'if-none-match': '*' } })).status).toBe(304)
        await problemOf(
          await server.get('/challenges?limite=0', { headers: { 'if-none-match': '*' } }),
          'invalid_parameter',
        )
      })

      test('a malformed id is a 400, also a long one, and an unknown id a 404', async () => {
        for (const id of ['0', '01', '-1', '+1', '1e3', ' 1', '%31%20', '9007199254740992', '1'.repeat(8_000)]) {
          const { errors } = await problemOf(await server.get(`/challenges/${encodeURI(id)}`), 'invalid_parameter')
          expect(errors?.[0]?.parameter).toBe('id_challenge')
        }
        await problemOf(await server.get('/challenges/9007199254740991'), 'resource_not_found')
      })
    })

    describe('the rest of the catalogue', () => {
      test('a refused login, a body that is too large, of another type or malformed', async () => {
        await problemOf(await postLogin(server, { login: 'a', password: 'b' }), 'login_refused')
        await problemOf(await postLogin(server, 'x'.repeat(20_000)), 'body_too_large')
        await problemOf(await postLogin(server, 'x', { 'content-type': 'a/b' }), 'unsupported_media_type')
        await problemOf(await postLogin(server, '{'), 'invalid_body')
      })

      test('every invalid parameter of a request is listed at once, with what it accepts', async () => {
        const { errors } = await problemOf(
          await server.get('/challenges?limite=x&debut_challenges=-1'),
          'invalid_parameter',
        )
        expect(errors?.map(({ parameter }) => parameter).sort()).toEqual(['debut_challenges', 'limite'])
      })

      test('each problem has a unique request id, which is in the log', async () => {
        const ids = await Promise.all(
          Array.from({ length: 20 }, async () => (await server.anonymous('/challenges')).headers.get('x-request-id')),
        )
        expect(new Set(ids).size).toBe(20)
        for (const id of ids) expect(server.log.filter((line) => line.includes(`"request_id":"${id}"`))).toHaveLength(1)
      })

      test('a client cannot choose the request id', async () => {
        const { headers } = await server.anonymous('/challenges', { headers: { 'x-request-id': 'mine' } })
        expect(headers.get('x-request-id')).not.toBe('mine')
      })
    })
  })

  test(`${engine}: excess password checks are a 503 overloaded, and the server recovers`, async () => {
    const server = await startServer(petitPortail, { engine, settings: { loginAddressRateLimit: 1_000 } })
    const answers = await Promise.all(
      Array.from({ length: 400 }, (_, i) => postLogin(server, { login: `guess ${i}`, password: 'x' })),
    )
    const refused = answers.filter(({ status }) => status === 503)
    // On some machines, logins that wait for PostgreSQL arrive no faster than they can be checked.
    if (engine === 'sqlite') expect(refused.length).toBeGreaterThan(0)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(400 - refused.length)
    // A busy PostgreSQL may be the one that cannot answer.
    if (engine === 'sqlite') await problemOf(refused[0] as Response, 'overloaded')
    await expect.poll(async () => (await postLogin(server)).status).toBe(200)
    await server.close()
  })
}

/** Opens a connection, sends bytes and resets it. */
async function resetAfter(url: string, bytes: string): Promise<void> {
  const { hostname, port } = new URL(url)
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(bytes, () => socket.resetAndDestroy())
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
  })
}
