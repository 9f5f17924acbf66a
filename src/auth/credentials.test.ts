import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  ACCOUNT,
  addAccount,
  addKey,
  engines,
  makeStore,
  serveStore,
  startServer,
  type TestServer,
  waitForChanges,
} from '../../test/harness.js'
import { PATIENCE } from '../../test/patience.js'
import { BOB, petitPortail, problemOf, sessionOf } from '../../test/wire.js'
import type { ErrorCode } from '../errors.js'
import { DAY_SECONDS, nowSeconds } from '../instant.js'
import { openStore } from '../store/open.js'
import type { Db } from '../store/store.js'
import { revokeAll, setDisabled, setPassword } from './comptes-queries.js'
import { Guard } from './guard.js'
import { digest, isApiKey, makeApiKey, makeSessionToken } from './tokens.js'

const HOUR_SECONDS = 3600

for (const engine of engines) {
  describe(engine, () => {
    let server: TestServer
    let session: string
    beforeAll(async () => {
      server = await startServer(petitPortail, { engine })
      await addAccount(server.store, BOB)
    })
    beforeEach(async () => {
      session = await sessionOf(server)
    })
    afterAll(() => server.close())

    const ask = (headers: Record<string, string>) => server.anonymous('/challenges/1', { headers })
    const statusWith = async (headers: Record<string, string>) => (await ask(headers)).status
    const expectCode = async (headers: Record<string, string>, code: ErrorCode) => {
      const response = await ask(headers)
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer /)
      return problemOf(response, code)
    }
    const updateSession = (values: { creation?: number; derniere_utilisation?: number }) =>
      server.store.write({ comptes: true }, (db) =>
        db.run(
          db.q
            .updateTable('sessions')
            .set(values)
            .where('empreinte', '=', digest(tokenOf(session))),
        ),
      )

    describe('a valid credential', () => {
      test('is a service_session cookie, an api_key cookie or a key sent as Bearer', async () => {
        expect(await statusWith({ cookie: session })).toBe(200)
        expect(await statusWith({ cookie: `api_key=${server.key}` })).toBe(200)
        for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
          expect(await statusWith({ authorization: `${scheme} ${server.key}` })).toBe(200)
        }
      })

      const invalid = [`api_key=${makeApiKey()}`, `service_session=${makeSessionToken()}`, 'api_key=', 'api_key=x']
      const beside: Record<string, (good: string) => Record<string, string>> = {
        'before it in the same cookie': (good) => ({ cookie: [...invalid, good].join('; ') }),
        'after it in the same cookie': (good) => ({ cookie: [good, ...invalid].join('; ') }),
        'a hundred times': (good) => ({
          cookie: [...Array.from({ length: 100 }, () => invalid[1]), ...Array(300).fill('api_key=x'), good].join('; '),
        }),
        'as Bearer': (good) => ({ cookie: good, authorization: `Bearer ${makeApiKey()}` }),
        'as another scheme': (good) => ({ cookie: good, authorization: 'Basic YWxpY2U6eA==' }),
        'as malformed cookies': (good) => ({ cookie: `;;=; =x; api_key; a=b=c; ${good};` }),
      }
      for (const [where, headers] of Object.entries(beside)) {
        test(`is accepted with invalid ones sent ${where}`, async () => {
          expect(await statusWith(headers(session))).toBe(200)
          expect(await statusWith(headers(`api_key=${server.key}`))).toBe(200)
        })
      }

      test('is accepted as Bearer, whatever the cookies are', async () => {
        expect(await statusWith({ cookie: invalid.join('; '), authorization: `Bearer ${server.key}` })).toBe(200)
      })

      test('may be quoted and have the spaces that cookies allow', async () => {
        const [name, value] = session.split('=')
        expect(await statusWith({ cookie: `a=1;   ${name}="${value}"  ;b=2` })).toBe(200)
      })
    })

    describe('the code of a 401', () => {
      const nothing: Record<string, string>[] = [{}, { cookie: 'theme=dark; api_keys=1' }, { cookie: 'Api_Key=x' }]
      for (const headers of nothing) {
        test(`is credential_missing for ${JSON.stringify(headers)}`, () => expectCode(headers, 'credential_missing'))
      }

      const unknown: Record<string, string>[] = [
        { cookie: 'api_key=' },
        { cookie: `api_key=${makeApiKey()}` },
        { cookie: `api_key=${makeSessionToken()}` },
        { cookie: `service_session=${makeSessionToken()}` },
        { cookie: `service_session=${'x'.repeat(10_000)}` },
        { cookie: "service_session=' or 1=1 --" },
        { authorization: 'Bearer' },
        { authorization: `Bearer ${makeApiKey()}` },
        { authorization: `Bearer ${makeApiKey()} ${makeApiKey()}` },
        { authorization: 'Basic YWxpY2U6eA==' },
      ]
      for (const headers of unknown) {
        test(`is credential_invalid for ${JSON.stringify(headers).slice(0, 60)}`, () =>
          expectCode(headers, 'credential_invalid'))
      }

      test('is credential_invalid for a valid one in the wrong place or truncated', async () => {
        const token = tokenOf(session)
        const wrong = [`api_key=${token}`, `service_session=${server.key}`, session.slice(0, -1), `${session}A`]
        for (const cookie of [...wrong, session.toUpperCase(), `api_key=${server.key.slice(0, -1)}`]) {
          await ask({ cookie }).then(({ status }) => expect([cookie, status]).toEqual([cookie, 401]))
        }
        await expectCode({ cookie: wrong[0] as string }, 'credential_invalid')
        await expectCode({ authorization: `Bearer ${token}` }, 'credential_invalid')
      })

      test('is credential_expired for a key at its expiration', async () => {
        const key = await addKey(server.store, ACCOUNT.login, { expiration: nowSeconds() })
        await expectCode({ cookie: `api_key=${key}` }, 'credential_expired')
      })

      test('is the most specific one when several credentials were sent', async () => {
        const expired = await addKey(server.store, ACCOUNT.login, { expiration: nowSeconds() })
        await expectCode({ cookie: `api_key=x; api_key=${expired}; api_key=y` }, 'credential_expired')
        await server.anonymous('/login', { method: 'DELETE', headers: { cookie: session } })
        await expectCode({ cookie: `api_key=${expired}; ${session}` }, 'credential_revoked')
      })

      test('never becomes a redirect or HTML, whatever Accept says', async () => {
        const { headers } = await ask({ accept: 'text/html' })
        expect([headers.get('location'), headers.get('content-type')]).toEqual([null, 'application/problem+json'])
      })
    })

    describe('a session', () => {
      test('ends 7 days after its last use', async () => {
        await updateSession({ creation: nowSeconds() - 20 * DAY_SECONDS, derniere_utilisation: daysAgo(7) + 60 })
        expect(await statusWith({ cookie: session })).toBe(200)
        session = await sessionOf(server)
        await updateSession({ creation: nowSeconds() - 20 * DAY_SECONDS, derniere_utilisation: daysAgo(7) })
        await expectCode({ cookie: session }, 'credential_expired')
      })

      test('ends 30 days after it was created, however much it is used', async () => {
        await updateSession({ creation: daysAgo(30) + 60, derniere_utilisation: nowSeconds() })
        expect(await statusWith({ cookie: session })).toBe(200)
        await updateSession({ creation: daysAgo(30) })
        await expectCode({ cookie: session }, 'credential_expired')
      })
    })

    describe('a change of credentials applies to the next request that can know of it', () => {
      const changes: Record<string, (db: Db, idCompte: number) => Promise<void>> = {
        'the account is disabled': (db, idCompte) => setDisabled(db, idCompte, true),
        'the account has a new password': async (db, idCompte) => {
          await setPassword(db, idCompte, 'another hash')
          await revokeAll(db, idCompte, nowSeconds())
        },
      }
      for (const [what, change] of Object.entries(changes)) {
        for (const where of ['this store', 'another connection to it'] as const) {
          test(`${what}, through ${where}`, async () => {
            const account = { login: `${what}, ${where}`, password: 'long enough', idAuteur: 2 }
            await addAccount(server.store, account)
            const cookies = [await sessionOf(server, account), `api_key=${await addKey(server.store, account.login)}`]
            for (const cookie of cookies) expect(await statusWith({ cookie })).toBe(200)
            const row = await server.store.read((db) =>
              db.get(db.q.selectFrom('comptes').select('id_compte').where('login', '=', account.login)),
            )
            const store = where === 'this store' ? server.store : await openStore(server.database, { create: false })
            await store.write({ comptes: true }, (db) => change(db, row!.id_compte))
            if (store !== server.store) await waitForChanges(server)
            for (const cookie of cookies) await expectCode({ cookie }, 'credential_revoked')
            expect(await statusWith({ cookie: session })).toBe(200)
            if (store !== server.store) await store.close()
          })
        }
      }

      test('a key created on another connection works at once', async () => {
        const other = await openStore(server.database, { create: false })
        expect(await statusWith({ cookie: `api_key=${await addKey(other, ACCOUNT.login)}` })).toBe(200)
        await other.close()
      })
    })

    describe('the store', () => {
      const useOf = (key: string) =>
        server.store.read((db) =>
          db.get(db.q.selectFrom('cles_api').select('derniere_utilisation').where('empreinte', '=', digest(key))),
        )

      test('records the last use to the hour, and further reads write nothing', async () => {
        const key = await addKey(server.store, ACCOUNT.login)
        const cookie = `api_key=${key}`
        expect((await useOf(key))?.derniere_utilisation).toBeNull()
        expect(await statusWith({ cookie })).toBe(200)
        await vi.waitUntil(async () => (await useOf(key))?.derniere_utilisation, PATIENCE)
        const used = (await useOf(key))!.derniere_utilisation!
        expect([used % HOUR_SECONDS, Math.abs(nowSeconds() - used) <= HOUR_SECONDS]).toEqual([0, true])
        const before = createHash('sha256')
          .update(await storedBytes(server))
          .digest('hex')
        for (let i = 0; i < 30; i++) expect(await statusWith({ cookie })).toBe(200)
        const after = createHash('sha256')
          .update(await storedBytes(server))
          .digest('hex')
        expect(after).toBe(before)
      })

      test('records a use that is an hour later', async () => {
        const key = await addKey(server.store, ACCOUNT.login)
        const before = nowSeconds() - 2 * HOUR_SECONDS
        await server.store.write({ comptes: true }, (db) =>
          db.run(
            db.q.updateTable('cles_api').set({ derniere_utilisation: before }).where('empreinte', '=', digest(key)),
          ),
        )
        expect(await statusWith({ authorization: `Bearer ${key}` })).toBe(200)
        await vi.waitUntil(async () => (await useOf(key))!.derniere_utilisation! > before, PATIENCE)
      })

      test('has only the SHA-256 of a secret: no key, session or password', async () => {
        const kept = (await storedBytes(server)).toString('latin1')
        for (const secret of [server.key, tokenOf(session)]) {
          expect(kept).not.toContain(secret)
          expect(kept).not.toContain(secret.slice(12))
          expect(kept).toContain(createHash('sha256').update(secret).digest('hex'))
        }
        expect(kept).not.toContain(ACCOUNT.password)
        expect(kept).toContain('$argon2id$v=19$m=19456,t=2,p=1$')
      })
    })
  })

  describe(`${engine}, over time`, () => {
    let server: TestServer
    beforeEach(async () => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1, 12) })
      server = await startServer(petitPortail, { engine })
    })
    afterEach(async () => {
      vi.useRealTimers()
      await server.close()
    })

    test('a session last used 8 days ago stays valid here if another process saw it 4 days ago', async () => {
      const serving = { log: { info() {}, warn() {} }, connections: 10, timeoutSeconds: 20 }
      const store = await openStore(server.database, { create: false, serving })
      const other = await serveStore(store)
      try {
        const cookie = await sessionOf(server)
        const made = Date.now()
        const status = async (url: string) => (await fetch(`${url}/challenges/1`, { headers: { cookie } })).status
        const lastUse = () =>
          server.store.read((db) => db.get(db.q.selectFrom('sessions').select('derniere_utilisation')))
        expect(await status(server.url)).toBe(200)
        const later = made + 4 * DAY_SECONDS * 1000
        vi.setSystemTime(later)
        expect(await status(other.url)).toBe(200)
        await vi.waitUntil(async () => (await lastUse())?.derniere_utilisation === later / 1000, PATIENCE)
        vi.setSystemTime(made + 8 * DAY_SECONDS * 1000)
        expect(await status(server.url)).toBe(200)
        vi.setSystemTime(made + 15 * DAY_SECONDS * 1000)
        expect([await status(server.url), await status(other.url)]).toEqual([401, 401])
      } finally {
        await other.app.close()
        await store.close()
      }
    })

    test('a session used every day lasts exactly 30 days, and a key a year', async () => {
      const cookie = await sessionOf(server)
      const made = Date.now()
      const status = async () => (await server.anonymous('/challenges/1', { headers: { cookie } })).status
      for (let day = 1; day < 30; day++) {
        vi.setSystemTime(made + day * DAY_SECONDS * 1000)
        expect([day, await status()]).toEqual([day, 200])
      }
      vi.setSystemTime(made + 30 * DAY_SECONDS * 1000 - 1)
      expect(await status()).toBe(200)
      vi.setSystemTime(made + 30 * DAY_SECONDS * 1000)
      expect(await status()).toBe(401)
      vi.setSystemTime(made + 365 * DAY_SECONDS * 1000 - 1)
      expect((await server.get('/challenges/1')).status).toBe(200)
      vi.setSystemTime(made + 365 * DAY_SECONDS * 1000)
      await problemOf(await server.get('/challenges/1'), 'credential_expired')
    })
  })
}

describe('the format of a key', () => {
  test('is a fixed prefix, 50 random characters and a checksum of 6', () => {
    const keys = Array.from({ length: 200 }, makeApiKey)
    for (const key of keys) expect(key).toMatch(/^palm_[0-9A-Za-z]{56}$/)
    expect(keys.every(isApiKey)).toBe(true)
    expect(new Set(keys).size).toBe(keys.length)
  })

  test('is broken by any single character changed, removed or added', () => {
    const character = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')
    fc.assert(
      fc.property(fc.nat(60), character, (at, other) => {
        const key = makeApiKey()
        const [before, after] = [key.slice(0, at), key.slice(at + 1)]
        if (key[at] !== other) expect(isApiKey(before + other + after)).toBe(false)
        expect(isApiKey(before + after)).toBe(false)
        expect(isApiKey(before + other + key.slice(at))).toBe(false)
      }),
    )
  })

  test('is checked before the store is read: a malformed key is refused while the store is closed', async () => {
    const { store, close } = await makeStore()
    const guard = new Guard(store)
    const identify = (secret: string) => guard.identify([{ kind: 'cle', secret }], 1, () => true)
    await close()
    const key = makeApiKey()
    const tampered = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')
    expect(await identify(tampered)).toBe('credential_invalid')
    await expect(identify(key)).rejects.toThrow()
  })
})

function tokenOf(cookie: string): string {
  return cookie.slice('service_session='.length)
}

function daysAgo(days: number): number {
  return nowSeconds() - days * DAY_SECONDS
}

/** Everything that a store keeps: its files, or each row of each table with the transaction that wrote it. */
async function storedBytes({ database, store }: TestServer): Promise<Buffer> {
  if (store.engine === 'sqlite') {
    const path = database.slice('sqlite:'.length)
    return Buffer.concat([readFileSync(path), readFileSync(`${path}-wal`)])
  }
  return store.read(async (db) => {
    const tables = await db.select<{ nom: string }>(
      "select table_name as nom from information_schema.tables where table_schema = 'public' order by 1",
    )
    expect(tables.length).toBeGreaterThan(10)
    const rows: unknown[] = []
    for (const { nom } of tables) {
      rows.push(...(await db.select(`select xmin::text, t::text as ligne from "${nom}" t order by ctid`)))
    }
    return Buffer.from(JSON.stringify(rows))
  })
}
