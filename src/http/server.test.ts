import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../test/harness.js'
import { exchange, parseAnswer, petitPortail, postLogin, problemOf } from '../../test/wire.js'

describe('unusual bytes', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(petitPortail)
  })
  afterAll(() => server.close())

  for (const bytes of ['caf\xe9', 'a\xff', '\xc0\xae', '\xed\xa0\x80', '\xf0\x9f\x98']) {
    const shown = Buffer.from(bytes, 'latin1').toString('hex')
    test(`a JSON body that is not UTF-8 (${shown}) is a 400, and does not count as a login`, async () => {
      const body = Buffer.from(`{"login":"${bytes}","password":"some password"}`, 'latin1')
      const headers = { 'content-type': 'application/json' }
      const response = await server.anonymous('/login', { method: 'POST', headers, body })
      const { errors } = await problemOf(response, 'invalid_body')
      expect(errors).toEqual([{ parameter: 'body', message: 'is not UTF-8' }])
    })
  }

  test('a JSON body in UTF-8 is read unchanged, with or without a byte-order mark', async () => {
    for (const mark of ['', '\u{feff}']) {
      const response = await postLogin(server, `${mark}{"login":"élodie 😀","password":"some password"}`)
      await problemOf(response, 'login_refused')
    }
  })

  test('a credential after 1,900 other header lines is found', async () => {
    const lines = 'a:b\r\n'.repeat(1_900)
    const credential = `Cookie: api_key=${server.key}\r\n`
    const head = `GET /challenges HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines}`
    expect(parseAnswer(await exchange(server.url, `${head}${credential}\r\n`)).status).toBe(200)
    await problemOf(parseAnswer(await exchange(server.url, `${head}\r\n`)), 'credential_missing')
  })
})

describe('headers of a trusted proxy', () => {
  let server: TestServer
  afterEach(() => server.close())

  test('X-Forwarded-Proto is used if it is http or https, in any case', async () => {
    server = await startServer(petitPortail, { settings: { trustProxy: 'loopback' } })
    for (const [sent, scheme, secure] of [
      ['https', 'https', true],
      ['HTTPS', 'https', true],
      ['http', 'http', false],
      ['javascript', 'http', false],
      ['https:', 'http', false],
      ['https://evil.example/?', 'http', false],
      ['', 'http', false],
    ] as const) {
      const headers = { 'x-forwarded-proto': sent }
      const link = (await server.get('/challenges', { headers })).headers.get('link')
      expect([sent, link?.split('/challenges')[0]]).toEqual([sent, `<${scheme}://${new URL(server.url).host}`])
      const cookie = (await postLogin(server, undefined, headers)).headers.getSetCookie()[0]
      expect([sent, cookie?.endsWith('; Secure')]).toEqual([sent, secure])
    }
  })

  test('X-Forwarded-For is used if it is an address; otherwise the proxy is charged and logged', async () => {
    server = await startServer(petitPortail, {
      settings: { trustProxy: 'loopback', rateLimit: 600, addressRateLimit: 4 },
    })
    const garbage = ['unknown', '<script>', '203.0.113.300', '198.51.100.7, x', '_hidden']
    const codes = []
    for (const sent of garbage) {
      const response = await server.anonymous('/challenges', { headers: { 'x-forwarded-for': sent } })
      codes.push(response.status)
    }
    expect(codes).toEqual([401, 401, 401, 401, 429])
    const addresses = server.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
    expect(addresses.map(({ address }) => address)).toEqual(garbage.map(() => '127.0.0.1'))
    const known = await server.anonymous('/challenges', { headers: { 'x-forwarded-for': '203.0.113.1' } })
    expect(known.status).toBe(401)
  })
})
