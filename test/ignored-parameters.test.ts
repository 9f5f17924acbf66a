import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addAccount, addKey, engines, OPERATOR, startServer, type TestServer } from './harness.js'
import { petitPortail, postLogin, unlessShed } from './wire.js'

const HEADER = 'x-parametres-ignores'

describe.each(engines)('X-Parametres-Ignores on %s', (engine) => {
  let server: TestServer
  let operator: { authorization: string }
  beforeAll(async () => {
    const settings = { corsOrigin: ['https://ami.example'], cacheMegabytes: 1 }
    server = await startServer(petitPortail, { engine, settings })
    await addAccount(server.store, OPERATOR)
    const key = await addKey(server.store, OPERATOR.login, { portee: ['export', 'ecriture'] })
    operator = { authorization: `Bearer ${key}` }
  })
  afterAll(() => server.close())

  const ignoredBy = async (path: string, init: RequestInit = {}) => {
    const response = await unlessShed(() => server.get(path, init))
    await response.arrayBuffer()
    return [response.status, response.headers.get(HEADER)]
  }
  test('lists the unknown parameters of a read, and is absent if there are none', async () => {
    expect(await ignoredBy('/classement?limte=3')).toEqual([200, 'limte'])
    expect(await ignoredBy('/challenges?Limite=3&titre=&nom=a&titre=&nom=b')).toEqual([200, 'Limite, nom'])
    expect(await ignoredBy('/rubriques?limite=3')).toEqual([200, 'limite'])
    expect(await ignoredBy('/challenges/1?x')).toEqual([200, 'x'])
    const known = ['', '?', '?&', '?=1', '?limite=3', '?titre=', '?id_auteur=1', '?id_auteur[]=1', '?id_auteur[7]=1']
    for (const query of known) expect([query, ...(await ignoredBy(`/challenges${query}`))]).toEqual([query, 200, null])
    expect(await ignoredBy('/challenges?id_auteur[x]=1&id_auteurs=1')).toEqual([200, 'id_auteur%5Bx%5D, id_auteurs'])
  })

  test('is the same from the cache, with a 304, for HEAD and for *', async () => {
    const path = '/auteurs?limte=3&debut=4'
    const first = await unlessShed(() => server.get(path))
    expect(first.headers.get(HEADER)).toBe('limte, debut')
    const etag = first.headers.get('etag') as string
    expect(await ignoredBy(path)).toEqual([200, 'limte, debut'])
    for (const condition of [etag, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const init = { method, headers: { 'if-none-match': condition } }
        expect(await ignoredBy(path, init)).toEqual([304, 'limte, debut'])
        expect(await ignoredBy(`${path}&${method}=1`, init)).toEqual([304, `limte, debut, ${method}`])
      }
    }
    expect(await ignoredBy('/auteurs')).toEqual([200, null])
  })

  test('is present on streamed responses and on actions, also when they refuse', async () => {
    for (const path of ['/export?ressource=auteurs&fromat=csv', '/ctftime?fromat=csv']) {
      for (let i = 0; i < 2; i++)
        expect(await ignoredBy(path, { headers: { cookie: '', ...operator } })).toEqual([200, 'fromat'])
    }
    expect(await ignoredBy('/compte?qui=1')).toEqual([200, 'qui'])
    expect(await ignoredBy('/login?user=alice&password=x')).toEqual([400, 'user'])
    expect(await ignoredBy('/classement?limte=3&limite=x')).toEqual([400, 'limte'])
    expect(await ignoredBy('/challenges/99?x=1')).toEqual([404, 'x'])
    const headers = { cookie: '', ...operator, 'content-type': 'application/json' }
    expect(await ignoredBy('/validations?essai=1', { method: 'POST', headers, body: '[]' })).toEqual([
      expect.any(Number),
      'essai',
    ])
    expect((await postLogin(server)).headers.get(HEADER)).toBeNull()
  })

  test('contains only printable ASCII, and a limited number of shortened names', async () => {
    const hostile: [sent: string, expected: string][] = [
      ['a%0d%0aSet-Cookie:%20x', 'a%0D%0ASet-Cookie%3A%20x'],
      ['a%2Cb', 'a%2Cb'],
      ['%00', '%00'],
      ['+a', '%20a'],
      ['%C3%A9', '%C3%A9'],
      ['"<script>"', '%22%3Cscript%3E%22'],
      ['__proto__', '__proto__'],
      ['constructor', 'constructor'],
      ['x'.repeat(5_000), 'x'.repeat(30)],
      ['%F0%9F%98%80'.repeat(100), '%F0%9F%98%80'.repeat(30)],
    ]
    for (const [sent, expected] of hostile) {
      expect([sent, await ignoredBy(`/rubriques?${sent}=1`)]).toEqual([sent, [200, expected]])
    }
    const many = Array.from({ length: 500 }, (_, i) => `p${i}=1`)
    expect(await ignoredBy(`/rubriques?${many.join('&')}`)).toEqual([200, 'p0, p1, p2, p3, p4, p5, p6, p7, p8, p9'])
  })

  test('is absent from the dialect, whose clients add cache-busting parameters', async () => {
    expect(await ignoredBy('/rootme/auteurs?_=123')).toEqual([200, null])
  })

  test('can be read by pages of the configured origins', async () => {
    const origin = 'https://ami.example'
    const { headers } = await unlessShed(() => server.get('/rubriques?x=1', { headers: { origin } }))
    expect(headers.get('access-control-expose-headers')?.split(', ')).toContain('X-Parametres-Ignores')
    const asked = { origin, 'access-control-request-method': 'PATCH' }
    const preflight = await server.anonymous('/rubriques', { method: 'OPTIONS', headers: asked })
    expect(preflight.headers.get('access-control-allow-methods')?.split(', ')).toContain('PATCH')
  })
})
