import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addAccount, startServer, type TestServer } from '../../test/harness.js'
import { petitPortail, postLogin, problemOf } from '../../test/wire.js'
import { passwordFault } from './passwords.js'

const ACCENTED = 'été à Zürich'

describe('a password', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(petitPortail)
  })
  afterAll(() => server.close())

  for (const made of ['NFC', 'NFD'] as const) {
    test(`created in ${made} is accepted in NFC and in NFD, and no other password is`, async () => {
      await addAccount(server.store, { login: made, password: ACCENTED.normalize(made), idAuteur: 1 })
      for (const given of ['NFC', 'NFD'] as const) {
        const password = ACCENTED.normalize(given)
        expect([given, (await postLogin(server, { login: made, password })).status]).toEqual([given, 200])
      }
      await problemOf(await postLogin(server, { login: made, password: 'ete a Zurich' }), 'login_refused')
    })
  }

  test('may not contain control characters when it is new', () => {
    for (const control of ['\0', '\t', '\n', '\r', '\u001b', '\u007f', '\u0085']) {
      expect(passwordFault(`correct${control}horse`)).toMatch(/control characters/)
    }
    for (const password of ['correct horse', ACCENTED, '  eight  ', '密码密码密码密码']) {
      expect([password, passwordFault(password)]).toEqual([password, undefined])
    }
  })
})
