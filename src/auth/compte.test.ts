import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ACCOUNT, addAccount, addKey, engines, OPERATOR, startServer, type TestServer } from '../../test/harness.js'
import { petitPortail, problemOf, sessionOf } from '../../test/wire.js'

describe.each(engines)('GET /compte on %s', (engine) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(petitPortail, { engine })
    await addAccount(server.store, OPERATOR)
  })
  afterAll(() => server.close())

  const ask = (cookie: string) => server.get('/compte', { headers: { cookie } })

  test('returns the account of a session or a key, with its fields in one order, and may never be cached', async () => {
    const session = await ask(await sessionOf(server, OPERATOR))
    expect(session.headers.get('cache-control')).toBe('no-store')
    expect(session.headers.get('etag')).toBeNull()
    expect(await session.text()).toBe(
      '{"login":"root","id_auteur":"1","nom":"alice","operateur":true,"acces":"session","portee":["lecture","ecriture","export"]}',
    )
    const key = await addKey(server.store, ACCOUNT.login)
    expect(await (await ask(`api_key=${key}`)).json()).toMatchObject({
      login: ACCOUNT.login,
      operateur: false,
      acces: 'cle',
      portee: ['lecture'],
    })
  })

  test('is refused without a valid credential', async () => {
    await problemOf(await server.anonymous('/compte'), 'credential_missing')
  })
})
