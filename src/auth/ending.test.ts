import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  ACCOUNT,
  addAccount,
  addKey,
  engines,
  exportFrom,
  importInto,
  serveStore,
  startServer,
  type TestServer,
  waitForChanges,
} from '../../test/harness.js'
import { BOB, petitPortail, postLogin, problemOf, sessionOf, unlessShed } from '../../test/wire.js'
import { DAY_SECONDS, nowSeconds } from '../instant.js'
import { openStore } from '../store/open.js'
import type { Store } from '../store/store.js'
import { findCompte } from './comptes-queries.js'
import { endCredentials } from './ending.js'
import { endSession, insertSession } from './sessions-queries.js'
import { digest, makeSessionToken } from './tokens.js'

const MANY = { login: 'many', password: 'a hundred devices', idAuteur: 2 }

for (const engine of engines) {
  describe(engine, () => {
    let server: TestServer
    /** The same store, opened as another process would. */
    let other: { app: { close(): Promise<unknown> }; url: string; store: Store }

    beforeEach(async () => {
      server = await startServer(petitPortail, { engine })
      await addAccount(server.store, BOB)
      const serving = { log: { info() {}, warn() {} }, connections: 10, timeoutSeconds: 20 }
      const store = await openStore(server.database, { create: false, serving })
      other = { ...(await serveStore(store)), store }
    })
    afterEach(async () => {
      await other.app.close()
      await other.store.close()
      await server.close()
    })

    const ask = (url: string, cookie: string) => unlessShed(() => fetch(`${url}/challenges`, { headers: { cookie } }))
    const expectAccepted = async (url: string, cookies: readonly string[]) => {
      for (const cookie of cookies) expect((await ask(url, cookie)).status).toBe(200)
    }
    const comptes = async () => (await server.store.versions()).comptes
    /** How many snapshots a process reads for requests whose credentials it has cached. */
    const readsFor = async ({ url, store }: { url: string; store: Store }, cookies: readonly string[]) => {
      const before = store.state().reads.primary
      await expectAccepted(url, cookies)
      return store.state().reads.primary - before
    }
    const keysOf = (account: { login: string }, count: number) =>
      Promise.all(Array.from({ length: count }, async () => `api_key=${await addKey(server.store, account.login)}`))
    /** Creates 100 live sessions of an account, the oldest first. */
    const fill = async (account: { login: string }) => {
      const tokens = Array.from({ length: 100 }, makeSessionToken)
      await server.store.write({}, async (db) => {
        const { id_compte } = (await findCompte(db, account.login))!
        const first = nowSeconds() - 200
        for (const [i, token] of tokens.entries()) {
          await insertSession(db, { empreinte: digest(token), id_compte, now: first + i })
        }
      })
      return tokens.map((token) => `service_session=${token}`) as [string, ...string[]]
    }

    test('ended credentials are refused by the next request in each process, and other cached credentials stay cached', async () => {
      await addAccount(server.store, MANY)
      const key = await addKey(server.store, ACCOUNT.login)
      const byKey = await fetch(`${server.url}/rootme/login`, { headers: { cookie: `api_key=${key}` } })
      const sessionByKey = `service_session=${/spip_session=\d+_([\w-]+)/.exec(byKey.headers.get('set-cookie')!)![1]}`
      const idCle = await idOfKey(server.store, key)
      const own = await sessionOf(server)
      const [oldest, ...others] = await fill(MANY)
      const ends: Record<string, { doomed: string[]; end(): Promise<unknown> }> = {
        'the 101st session of an account': { doomed: [oldest], end: () => sessionOf(server, MANY) },
        'a session that signs out': {
          doomed: [own],
          end: () => server.anonymous('/login', { method: 'DELETE', headers: { cookie: own } }),
        },
        'a key that is revoked': {
          doomed: [`api_key=${key}`, sessionByKey],
          end: async () =>
            server.anonymous(`/cles_api/${idCle}`, {
              method: 'DELETE',
              headers: { cookie: await sessionOf(server) },
            }),
        },
      }
      const cached = [...(await keysOf(BOB, 15)), ...others.slice(0, 5)]
      for (const [what, { doomed, end }] of Object.entries(ends)) {
        for (const { url } of [server, other]) await expectAccepted(url, [...cached, ...doomed])
        await end()
        await waitForChanges(server)
        for (const process of [server, other]) {
          expect([what, (await readsFor(process, cached)) <= 1]).toEqual([what, true])
          for (const cookie of doomed) await problemOf(await ask(process.url, cookie), 'credential_revoked')
        }
      }
    })

    test('a process that is too far behind, or misses a line, drops its whole cache of credentials', async () => {
      const [first, second, bob] = [await sessionOf(server), await sessionOf(server), await sessionOf(server, BOB)]
      await expectAccepted(other.url, [first, second, bob])
      const fakes = (from: number) => Array.from({ length: 998 }, (_, i) => `${from + i}`)
      await endCredentials(server.store, async (db) => [
        ...(await endSession(db, digestOf(first), nowSeconds())),
        ...fakes(0),
      ])
      for (const from of [1_000, 2_000]) await endCredentials(server.store, async () => fakes(from))
      await waitForChanges(server)
      await problemOf(await ask(other.url, first), 'credential_revoked')
      await expectAccepted(other.url, [second, bob])

      await endCredentials(server.store, (db) => endSession(db, digestOf(second), nowSeconds()))
      await server.store.write({}, (db) => db.exec('delete from acces_finis where empreinte = ?', digestOf(second)))
      await endCredentials(server.store, async () => fakes(3_000))
      await waitForChanges(server)
      await problemOf(await ask(other.url, second), 'credential_revoked')
      await expectAccepted(other.url, [bob])
      const lines = await server.store.read((db) => db.select<{ nb: number }>('select count(*) as nb from acces_finis'))
      expect(Number(lines[0]!.nb)).toBeLessThan(3_000)
    })

    test('a write that changes nothing moves no version: unknown and revoked keys, ended sessions, an import of authors', async () => {
      const session = await sessionOf(server)
      const key = await idOfKey(server.store, server.key)
      const remove = async (path: string, cookie = session) =>
        (await server.anonymous(path, { method: 'DELETE', headers: { cookie } })).status
      expect(await remove(`/cles_api/${key}`)).toBe(204)
      const before = await comptes()
      expect([await remove('/cles_api/999999'), await remove(`/cles_api/${key}`)]).toEqual([404, 404])
      expect((await postLogin(server)).status).toBe(200)
      await importInto(server.store, [{ type: 'auteur', id_auteur: 1, nom: 'another name', score: 11 }])
      expect(await comptes()).toBe(before)

      const leaving = await Promise.all([remove('/login'), remove('/login'), remove('/login')])
      expect(leaving.sort()[0]).toBe(204)
      const after = await comptes()
      await endCredentials(server.store, (db) => endSession(db, digestOf(session), nowSeconds()))
      expect([after > before, await comptes()]).toEqual([true, after])
    })

    test('an import that changes accounts, or removes the author of one, applies to the next request', async () => {
      const bob = await sessionOf(server, BOB)
      await expectAccepted(other.url, [bob])
      const [compte] = (await exportFrom(server.store, { withAccounts: true })).filter(({ login }) => login === 'bob')
      await importInto(server.store, [{ ...compte, desactive: true }], { withAccounts: true })
      await waitForChanges(server)
      await problemOf(await ask(other.url, bob), 'credential_revoked')
      const alice = `api_key=${server.key}`
      await expectAccepted(other.url, [alice])
      await importInto(server.store, [{ type: 'auteur', id_auteur: 1, supprime: true }])
      await waitForChanges(server)
      await problemOf(await ask(other.url, alice), 'credential_invalid')
    })

    test('logins and new keys delete sessions and keys that ended long ago, and no others', async () => {
      const now = nowSeconds()
      const { id_compte } = (await server.store.read((db) => findCompte(db, ACCOUNT.login)))!
      await server.store.write({}, async (db) => {
        for (let i = 0; i < 250; i++) {
          await insertSession(db, { empreinte: `made ${i}`, id_compte, now: now - 61 * DAY_SECONDS })
          await insertSession(db, { empreinte: `ended ${i}`, id_compte, now: now - 40 * DAY_SECONDS })
        }
        await db.exec("update sessions set revocation = ? where empreinte like 'ended%'", now - 31 * DAY_SECONDS)
        await insertSession(db, { empreinte: 'kept', id_compte, now: now - 40 * DAY_SECONDS })
        await db.exec('update sessions set revocation = ? where empreinte = ?', now - 29 * DAY_SECONDS, 'kept')
        await db.exec(
          `insert into cles_api (id_compte, nom, prefixe, empreinte, portee, creation, expiration, revocation)
           values (${id_compte}, 'n', 'p', 'expired', 'lecture', 1, 2, null), (${id_compte}, 'n', 'p', 'revoked', 'lecture', 1, ${2 * now}, 2),
             (${id_compte}, 'n', 'p', 'kept', 'lecture', 1, ${2 * now}, ${now - 89 * DAY_SECONDS})`,
        )
      })
      for (let i = 0; i < 3; i++) await sessionOf(server)
      await addKey(server.store, ACCOUNT.login)
      const left = await server.store.read((db) =>
        db.select<{ empreinte: string }>(
          'select empreinte from sessions union all select empreinte from cles_api order by 1',
        ),
      )
      const named = left.map(({ empreinte }) => empreinte).filter((empreinte) => empreinte.length < 64)
      expect(named).toEqual(['kept', 'kept'])
    })
  })
}

function digestOf(cookie: string): string {
  return digest(cookie.slice('service_session='.length))
}

async function idOfKey(store: Store, key: string): Promise<number> {
  const [row] = await store.read((db) =>
    db.select<{ id_cle: number }>('select id_cle from cles_api where empreinte = ?', digest(key)),
  )
  return Number(row!.id_cle)
}
