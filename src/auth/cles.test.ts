import { afterAll, beforeAll, expect, test } from 'vitest'
import { ACCOUNT, addAccount, startServer, type TestServer } from '../../test/harness.js'
import { BOB, petitPortail, sessionOf } from '../../test/wire.js'
import { nowSeconds } from '../instant.js'
import { createKey } from './cles.js'
import { listCles } from './cles-queries.js'
import { findCompte, revokeAll, setDisabled } from './comptes-queries.js'
import { endSession } from './sessions-queries.js'
import { digest } from './tokens.js'

let server: TestServer
let idCompte: number

beforeAll(async () => {
  server = await startServer(petitPortail)
  await addAccount(server.store, BOB)
  idCompte = (await server.store.read((db) => findCompte(db, ACCOUNT.login)))!.id_compte
})

afterAll(() => server.close())

/** What an admitted request does when its turn to write comes. */
const make = (session?: string) => createKey(server.store, idCompte, { nom: 'x', portee: [] }, session)
const digestOf = (cookie: string) => digest(cookie.slice('service_session='.length))
const keys = () => server.store.read((db) => listCles(db, nowSeconds(), idCompte))

async function expectNoKey(session?: string) {
  const before = await keys()
  await expect(make(session)).rejects.toMatchObject({ code: 'credential_revoked', status: 401 })
  expect(await keys()).toEqual(before)
}

test('a session that ended between admission and the write creates no key', async () => {
  const session = digestOf(await sessionOf(server))
  await make(session)
  await server.store.write({ comptes: true }, (db) => endSession(db, session, nowSeconds()))
  await expectNoKey(session)
})

test('a session ended by a new password creates no key', async () => {
  const session = digestOf(await sessionOf(server))
  await make(session)
  await server.store.write({ comptes: true }, (db) => revokeAll(db, idCompte, nowSeconds()))
  await expectNoKey(session)
})

test('a disabled account creates no key, with a session or without', async () => {
  const session = digestOf(await sessionOf(server))
  await server.store.write({ comptes: true }, (db) => setDisabled(db, idCompte, true))
  await expectNoKey(session)
  await expectNoKey()
  await server.store.write({ comptes: true }, (db) => setDisabled(db, idCompte, false))
  await make(session)
})

test('the session of another account creates no key', async () => {
  await expectNoKey(digestOf(await sessionOf(server, BOB)))
})
