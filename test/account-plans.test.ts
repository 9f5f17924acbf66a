import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKey } from '../src/auth/cles.js'
import { findCle, revokeCle } from '../src/auth/cles-queries.js'
import { findCompte } from '../src/auth/comptes-queries.js'
import { endCredentials } from '../src/auth/ending.js'
import { Login } from '../src/auth/login.js'
import { endSession, insertSession } from '../src/auth/sessions-queries.js'
import { digest } from '../src/auth/tokens.js'
import { toServerOptions } from '../src/config.js'
import { nowSeconds } from '../src/instant.js'
import { LocalLimits } from '../src/limits/local.js'
import { openStore } from '../src/store/open.js'
import type { Db, Store } from '../src/store/store.js'
import { ACCOUNT, addAccount, addKey, defaultOptions, engines, importInto, makePlace } from './harness.js'
import { walksOf, watching } from './plans.js'
import { petitPortail } from './wire.js'

const TABLES = ['sessions', 'cles_api', 'adresses_connues']
/** Indexes that also cover an account's ended credentials. */
const WIDE = ['sessions_compte', 'cles_api_compte']

describe.each(engines)('on %s, no statement scans ended credentials', (engine) => {
  let place: { url: string; remove(): unknown }
  let store: Store
  let login: Login
  let statements: string[]
  let walks: string[]

  beforeAll(async () => {
    place = await makePlace(engine)
    // Opened as a command opens it: SQLite runs in this thread, where its plans can be read.
    store = await openStore(place.url, { create: true })
    await importInto(store, petitPortail)
    await addAccount(store, ACCOUNT)
    if (engine === 'postgres') await store.write({}, fillAll)
    const watched = watching(store, async (db, sql, values) => {
      statements.push(sql)
      for (const walk of await walksOf(db, sql, values, TABLES, WIDE)) walks.push(`${walk}: ${sql}`)
    })
    login = new Login(watched, toServerOptions(defaultOptions()), new LocalLimits())
    made = {
      'a login': () => login.signIn(ACCOUNT.login, ACCOUNT.password, '203.0.113.1'),
      'a login that ends the oldest session': async () => {
        await fillSessions(store)
        return login.signIn(ACCOUNT.login, ACCOUNT.password, '203.0.113.1')
      },
      'a login by a key': async () => {
        const empreinte = digest(await addKey(store, ACCOUNT.login))
        const cle = await store.read((db) => db.get(findCle, { empreinte }))
        return login.signInByKey({ ...cle!, kind: 'cle', operateur: false, portee: ['lecture'] })
      },
      'a new key': async () => createKey(watched, await idOf(store), { nom: 'x', portee: [] }),
      'a key that is revoked': async () => {
        const { row } = await createKey(store, await idOf(store), { nom: 'x', portee: [] })
        return endCredentials(watched, (db) => revokeCle(db, row.id_cle, nowSeconds()))
      },
      'the end of a session': async () => endCredentials(watched, (db) => endSession(db, '0', nowSeconds())),
    }
  })
  afterAll(async () => {
    await store.close()
    await place.remove()
  })

  let made: Record<string, () => Promise<unknown>>
  for (const what of [
    'a login',
    'a login that ends the oldest session',
    'a login by a key',
    'a new key',
    'a key that is revoked',
    'the end of a session',
  ]) {
    test(what, async () => {
      statements = []
      walks = []
      await made[what]!()
      console.info(`${engine}: ${what}: ${statements.length} statements in its write`)
      expect(statements.length).toBeGreaterThan(0)
      expect(walks).toEqual([])
    })
  }
})

/** So many rows that PostgreSQL's planner prefers an index. SQLite's plans ignore the number of rows. */
async function fillAll(db: Db): Promise<void> {
  const now = nowSeconds()
  const many = 'from generate_series(1, 20000) g'
  for (const sql of [
    `insert into comptes (login, id_auteur, mot_de_passe, operateur, desactive, creation) select 'u' || g, 1, 'x', 0, 0, 1 ${many}`,
    `insert into sessions (empreinte, id_compte, creation, derniere_utilisation, revocation) select 'e' || g, 1, ${now}, ${now}, ${now} ${many}`,
    `insert into cles_api (id_compte, nom, prefixe, empreinte, portee, creation, expiration, revocation)
       select 1, 'n', 'p', 'k' || g, 'lecture', ${now}, ${2 * now}, ${now} ${many}`,
    `insert into adresses_connues (id_compte, adresse, vue) select id_compte, 'a', ${now} from comptes`,
    'analyze',
  ]) {
    await db.exec(sql)
  }
}

async function idOf(store: Store): Promise<number> {
  return (await store.read((db) => findCompte(db, ACCOUNT.login)))!.id_compte
}

async function fillSessions(store: Store): Promise<void> {
  const id_compte = await idOf(store)
  await store.write({}, async (db) => {
    for (let i = 0; i < 101; i++) await insertSession(db, { empreinte: String(i), id_compte, now: 1_000 + i })
  })
}
