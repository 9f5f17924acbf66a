import { inspect } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { Palmares, PalmaresError, PalmaresNetworkError, PalmaresTimeoutError } from '../src/index.js'
import { type Handler, json, KEY, type LocalServer, problem, startLocal } from './servers.js'

const open: LocalServer[] = []

afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

async function serve(handler: Handler): Promise<LocalServer> {
  const server = await startLocal(handler)
  open.push(server)
  return server
}

async function thrownBy(promise: Promise<unknown>): Promise<PalmaresError> {
  const error = await promise.then(
    () => undefined,
    (thrown) => thrown,
  )
  if (error === undefined) throw new Error('nothing was thrown')
  return error
}

async function timed(work: Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work.catch(() => undefined)
  return performance.now() - start
}

const solve = { type: 'validation', id_auteur: 1, id_challenge: 1 } as const
const done = { appliquees: 1, connues: 0, refusees: 0, lignes: [] }

describe('retries', () => {
  test.each([429, 502, 503, 504])('a read is retried after %i', async (status) => {
    const server = await serve((_, response, count) =>
      count === 1 ? problem(response, status, 'x') : json(response, []),
    )
    expect(await server.client().get('/rubriques')).toEqual([])
    expect(server.requests).toHaveLength(2)
  })

  test.each([400, 401, 403, 404, 408, 500])('no request is retried after %i', async (status) => {
    const server = await serve((_, response) => problem(response, status, 'x'))
    await expect(server.client().get('/rubriques')).rejects.toMatchObject({ status })
    expect(server.requests).toHaveLength(1)
  })

  test('a read is retried after a lost connection and after a truncated body', async () => {
    const server = await serve((request, response, count) => {
      if (count === 1) return request.socket.destroy()
      if (count === 2)
        return response.writeHead(200, { 'content-length': '100' }).write('[{"id', () => request.socket.destroy())
      return json(response, [])
    })
    expect(await server.client().get('/rubriques')).toEqual([])
    expect(server.requests).toHaveLength(3)
  })

  test('a retry waits for the seconds of Retry-After', async () => {
    const server = await serve((_, response, count) =>
      count === 1 ? problem(response, 429, 'rate_limited', { 'retry-after': '1' }) : json(response, []),
    )
    expect(await timed(server.client().get('/rubriques'))).toBeGreaterThan(990)
    expect(server.requests).toHaveLength(2)
  })

  test('a date in Retry-After is compared with the Date header of the server', async () => {
    const headers = { date: 'Wed, 21 Oct 2015 07:28:00 GMT', 'retry-after': 'Wed, 21 Oct 2015 07:28:01 GMT' }
    const server = await serve((_, response, count) =>
      count === 1 ? problem(response, 503, 'overloaded', headers) : json(response, []),
    )
    // The clock of this machine is years ahead of the server's: with it, the client would not wait at all.
    expect(await timed(server.client().get('/rubriques'))).toBeGreaterThan(990)
    expect(server.requests).toHaveLength(2)
  })

  test('a Retry-After past the limit is not waited for: the problem is thrown at once, with its time', async () => {
    const server = await serve((_, response) => problem(response, 429, 'rate_limited', { 'retry-after': '61' }))
    const error = await thrownBy(server.client().get('/rubriques'))
    expect(error).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 61 })
    expect(server.requests).toHaveLength(1)
  })

  test.each(['99999999999999', '9'.repeat(400)])(
    'however long the Retry-After is, it is not waited for: %s',
    async (text) => {
      const server = await serve((_, response) => problem(response, 503, 'overloaded', { 'retry-after': text }))
      await thrownBy(server.client().get('/rubriques'))
      expect(server.requests).toHaveLength(1)
    },
  )

  test.each(['-5', '1.5', 'soon'])('a Retry-After that is neither seconds nor a date is ignored: %s', async (text) => {
    const server = await serve((_, response) => problem(response, 503, 'overloaded', { 'retry-after': text }))
    expect(await thrownBy(server.client({ retries: 0 }).get('/rubriques'))).toMatchObject({
      retryAfterSeconds: undefined,
    })
  })

  test('the total wait of a request is limited', async () => {
    const server = await serve((_, response) => problem(response, 503, 'overloaded', { 'retry-after': '1' }))
    const client = server.client({ maxWaitMilliseconds: 1_500 })
    await expect(client.get('/rubriques')).rejects.toMatchObject({ status: 503 })
    expect(server.requests).toHaveLength(2)
  })

  test('the problem is thrown after the last attempt', async () => {
    const server = await serve((_, response) => problem(response, 503, 'store_unavailable', { 'retry-after': '0' }))
    await expect(server.client().get('/rubriques')).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(server.requests).toHaveLength(4)
    await expect(server.client({ retries: 0 }).get('/rubriques')).rejects.toMatchObject({ requestId: 'r-1' })
    expect(server.requests).toHaveLength(5)
  })

  test('validations are retried as a whole, because repeating them changes nothing', async () => {
    const bodies: string[] = []
    const server = await serve((request, response, count) => {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        bodies.push(body)
        if (count === 1) request.socket.destroy()
        else json(response, done)
      })
    })
    await server.client().post('/validations', { body: [solve, solve] })
    expect(bodies).toEqual(Array.from({ length: 2 }, () => `${JSON.stringify(solve)}\n`.repeat(2)))
    expect(server.requests[1]!.headers['content-type']).toBe('application/x-ndjson')
  })

  test('a write that is not idempotent is sent once', async () => {
    const server = await serve((_, response) => problem(response, 503, 'store_unavailable', { 'retry-after': '0' }))
    const client = server.client()
    for (const change of [
      () => client.post('/cles_api', { body: { nom: 'a' } }),
      () => client.post('/login', { body: { login: 'a', password: 'b' } }),
      () => client.delete('/cles_api/{id}', { path: { id: 1 } }),
      () => client.post('/validations', { body: [solve, { ...solve, supprime: true }] }),
      () => client.post('/validations', { body: { type: 'auteur', id_auteur: 1, score: 3 } }),
    ]) {
      server.requests.length = 0
      await expect(change()).rejects.toMatchObject({ status: 503 })
      expect(server.requests).toHaveLength(1)
    }
  })
})

describe('timeouts and aborts', () => {
  test('a missing answer is a PalmaresTimeoutError after the last attempt', async () => {
    const server = await serve(() => undefined)
    const error = await thrownBy(server.client({ timeoutMilliseconds: 1_000, retries: 1 }).get('/rubriques'))
    expect(error).toBeInstanceOf(PalmaresTimeoutError)
    expect(error).toBeInstanceOf(PalmaresNetworkError)
    expect(error.message).toBe('GET /rubriques had no whole answer in 1000 ms.')
    expect(server.requests).toHaveLength(2)
  })

  test('the timeout includes the body', async () => {
    const server = await serve((_, response) => response.writeHead(200).write('['))
    const client = server.client({ timeoutMilliseconds: 50, retries: 0 })
    expect(await thrownBy(client.get('/rubriques'))).toBeInstanceOf(PalmaresTimeoutError)
  })

  test('an abort ends a wait at once and throws its own reason', async () => {
    const controller = new AbortController()
    const server = await serve((_, response) => {
      problem(response, 503, 'overloaded', { 'retry-after': '3600' })
      setTimeout(() => controller.abort(new Error('enough')), 200)
    })
    const client = server.client({ maxWaitMilliseconds: 4_000_000 })
    await expect(client.get('/rubriques', { signal: controller.signal })).rejects.toThrow('enough')
    expect(server.requests).toHaveLength(1)
  })

  test('an abort ends a response in flight, by the signal of the request, of the client or of raw', async () => {
    const server = await serve(() => undefined)
    const soon = () => AbortSignal.timeout(50)
    const ended = { name: 'TimeoutError' }
    await expect(server.client().get('/rubriques', { signal: soon() })).rejects.toMatchObject(ended)
    await expect(server.client({ retries: 0 }).get('/rubriques', { signal: soon() })).rejects.toMatchObject(ended)
    await expect(server.client({ signal: soon() }).get('/rubriques')).rejects.toMatchObject(ended)
    await expect(server.client().raw.GET('/rubriques', { signal: soon() })).rejects.toMatchObject(ended)
  })

  test('a request with an aborted signal is not sent', async () => {
    const server = await serve((_, response) => json(response, []))
    const signal = AbortSignal.abort()
    await expect(server.client().get('/rubriques', { signal })).rejects.toMatchObject({ name: 'AbortError' })
    expect(server.requests).toHaveLength(0)
  })

  test('an unreachable server is a PalmaresNetworkError with its cause', async () => {
    const server = await serve(() => undefined)
    await server.close()
    const error = await thrownBy(server.client({ retries: 0 }).get('/rubriques'))
    expect(error).toBeInstanceOf(PalmaresNetworkError)
    expect(error).not.toBeInstanceOf(PalmaresTimeoutError)
    expect(inspect(error)).toContain('ECONNREFUSED')
    open.length = 0
  })
})

describe('a response that is not from this API', () => {
  test.each([502, 500, 404, 200])('an HTML page of a proxy with status %i is an unexpected answer', async (status) => {
    const server = await serve((_, response) =>
      response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Oh'),
    )
    const error = await thrownBy(server.client({ retries: 0 }).get('/rubriques'))
    expect(error).toBeInstanceOf(PalmaresError)
    expect(error).toMatchObject({ status, code: 'unexpected_answer' })
    expect(error.detail).toMatch(new RegExp(`^GET /rubriques was answered with ${status} and text/html, which is not`))
  })

  test.each(['', 'null', '3', '"a"'])('a list page whose body is %j is an unexpected answer', async (body) => {
    const server = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    )
    await expect(server.client().page('/auteurs')).rejects.toMatchObject({ code: 'unexpected_answer', status: 200 })
  })

  test.each(['null', '[]', '{"code":3}', '{"code":"x"}'])(
    'a refusal whose problem is %j is an unexpected answer',
    async (body) => {
      const server = await serve((_, response) => response.writeHead(400).end(body))
      await expect(server.client().get('/rubriques')).rejects.toMatchObject({ code: 'unexpected_answer', status: 400 })
    },
  )

  test('a 304 to an unconditional request is an unexpected answer', async () => {
    const server = await serve((_, response) => response.writeHead(304, { etag: '"a"' }).end())
    await expect(server.client().get('/rubriques')).rejects.toMatchObject({ code: 'unexpected_answer', status: 304 })
  })
})

describe('the key', () => {
  test.each([301, 302, 307, 308])(
    'is never sent along a redirect (%i), which is an unexpected answer',
    async (status) => {
      const thief = await serve((_, response) => json(response, []))
      const server = await serve((_, response) =>
        response.writeHead(status, { location: `${thief.url}/rubriques` }).end(),
      )
      const error = await thrownBy(server.client().get('/rubriques'))
      expect(error).toMatchObject({ status, code: 'unexpected_answer' })
      await expect(server.client().raw.GET('/rubriques')).rejects.toMatchObject({ code: 'unexpected_answer' })
      expect(thief.requests).toHaveLength(0)
    },
  )

  test('is never sent to another origin, whether by a link, an address or a base of raw', async () => {
    const thief = await serve((_, response) => json(response, []))
    const server = await serve((_, response) => json(response, [{}], { link: `<${thief.url}/classement>; rel="next"` }))
    const client = server.client()
    const rows = client.iterate('/classement')
    await rows.next()
    const error = await thrownBy(rows.next())
    expect(error).toMatchObject({ code: 'unexpected_answer' })
    expect(error.message).toContain(`at ${thief.url}; this client only sends requests to ${server.url}`)
    await expect(client.page('/classement', { address: thief.url })).rejects.toThrow(TypeError)
    await expect(client.raw.GET('/rubriques', { baseUrl: thief.url })).rejects.toThrow(TypeError)
    expect(thief.requests).toHaveLength(0)
  })

  test('is sent as Bearer without cookies, and appears in no URL and no error', async () => {
    const server = await serve((request, response, count) =>
      count === 1 ? request.socket.destroy() : problem(response, 401, 'credential_invalid'),
    )
    const credentials: unknown[] = []
    const client = server.client({
      retries: 0,
      fetch: (url, init) => {
        credentials.push(init.credentials)
        return fetch(url, init)
      },
    })
    const errors = [await thrownBy(client.get('/compte')), await thrownBy(client.get('/compte'))]
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`])
    expect(credentials).toEqual(['omit', 'omit'])
    expect(inspect(errors, { depth: 9 }) + server.requests.map(({ url }) => url)).not.toContain(KEY)
  })
})

describe('next links', () => {
  test.each([
    ['to itself', () => '/classement'],
    ['in a circle', (count: number) => `/classement?debut_classement=${count % 3}`],
  ])('next links that lead %s end in an error', async (_, next) => {
    const server = await serve((_request, response, count) =>
      json(response, [{}], { link: `<${next(count)}>; rel="next"` }),
    )
    const walk = async () => {
      for await (const _row of server.client().iterate('/classement')) if (server.requests.length > 9) return
    }
    await expect(walk()).rejects.toThrow('form a loop')
  })

  test.each([
    ['of a user', (url: string) => url.replace('//', '//u:p@'), 'has a user in its URL'],
    ['of another list', (url: string) => url.replace('/classement', '/auteurs'), 'belongs to another list'],
  ])('%s are not followed', async (_, next, why) => {
    const server = await serve((request, response) => {
      const address = `http://${request.headers.host}/classement?debut_classement=1`
      json(response, [{}], { link: `<${next(address)}>; rel="next"` })
    })
    const walk = async () => {
      for await (const _row of server.client().iterate('/classement')) if (server.requests.length > 9) return
    }
    const error = await thrownBy(walk())
    expect([error, error.message]).toMatchObject([{ code: 'unexpected_answer' }, expect.stringContaining(why)])
    expect(error.message).not.toContain('u:p')
    expect(server.requests).toHaveLength(1)
  })

  test('a next link after a page without rows is not followed', async () => {
    const server = await serve((_, response, count) =>
      json(response, count < 3 ? [{}] : [], { link: `</classement?debut_classement=${count}>; rel=next` }),
    )
    let rows = 0
    for await (const _ of server.client().iterate('/classement')) rows++
    expect([rows, server.requests.length]).toEqual([2, 3])
  })

  test('are found among other relations and parameters, and are absent when there are none', async () => {
    const link =
      '<https://a/x,y;z>; title="a, b"; rel="last first", <?b=2>;rel=next, <?b=3>; rel=next, <http://[>; rel=prev, nonsense'
    const server = await serve((_, response, count) => json(response, [], count === 1 ? { link } : {}))
    const { first, prev, next, last } = await server.client().page('/classement')
    expect([first, prev, last]).toEqual(['https://a/x,y;z', undefined, 'https://a/x,y;z'])
    expect(next).toBe(`${server.url}/classement?b=2`)
    expect(await server.client().page('/classement')).toMatchObject({ next: undefined, total: undefined })
  })
})

test('a base URL with a path is supported', async () => {
  const server = await serve((_, response) => json(response, []))
  const client = new Palmares({ baseUrl: `${server.url}/portail/` })
  await client.get('/rubriques')
  expect(server.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
    ['/portail/rubriques', undefined],
  ])
})
