import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { buildApp } from '../src/app.js'
import { createKey } from '../src/auth/cles.js'
import { hashPassword } from '../src/auth/passwords.js'
import { findCompte, insertCompte } from '../src/auth/queries.js'
import { type ServeOptions, serveSettings, toAppSettings } from '../src/config.js'
import type { Scope } from '../src/contract.js'
import { Metrics } from '../src/http/metrics.js'
import { nowSeconds } from '../src/instant.js'
import { exportLines } from '../src/portal/export.js'
import { type ImportReport, importDump } from '../src/portal/import.js'
import { openStore } from '../src/store/open.js'
import type { Store } from '../src/store/store.js'

export type DumpLine = Record<string, unknown>

/** The engines that every test of the contract runs on. */
export const engines = ['sqlite'] as const
export type Engine = (typeof engines)[number]

/** An empty store of an engine, gone after `close`. */
export async function makeStore(
  _engine: Engine = 'sqlite',
): Promise<{ store: Store; url: string; close(): Promise<void> }> {
  const folder = makeFolder()
  const url = `sqlite:${join(folder, 'portal.db')}`
  const store = await openStore(url, { create: true })
  const close = async () => {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { store, url, close }
}

export function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), 'palmares-'))
}

/** Imports lines, or a whole text, as `palmares import` does. */
export function importInto(
  store: Store,
  lines: Iterable<DumpLine> | string,
  options: { replace?: boolean; withAccounts?: boolean } = {},
): Promise<ImportReport> {
  const text = typeof lines === 'string' ? lines : [...lines].map((line) => `${JSON.stringify(line)}\n`).join('')
  return importDump(store, Readable.from([Buffer.from(text)]), { replace: false, withAccounts: false, ...options })
}

/** The whole store as dump lines. */
export async function exportFrom(store: Store, options: { withAccounts?: boolean } = {}): Promise<DumpLine[]> {
  return store.read(async (db) => {
    let text = ''
    for await (const chunk of exportLines(db, { withAccounts: options.withAccounts === true })) text += chunk
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  })
}

/** Adds an account for an author that the store has. */
export async function addAccount(
  store: Store,
  account: { login: string; password: string; idAuteur: number; operator?: boolean },
): Promise<void> {
  const motDePasse = await hashPassword(account.password)
  await store.write({ comptes: true }, (db) =>
    insertCompte(db, {
      login: account.login,
      id_auteur: account.idAuteur,
      mot_de_passe: motDePasse,
      operateur: account.operator ? 1 : 0,
      desactive: 0,
      creation: nowSeconds(),
    }),
  )
}

/** Makes a key as `palmares keys create` does, and returns it. */
export async function addKey(
  store: Store,
  login: string,
  request: { nom?: string; expiration?: number; portee?: Scope[] } = {},
): Promise<string> {
  const compte = await store.read((db) => findCompte(db, login))
  if (!compte) throw new Error(`no account ${login}`)
  const { key } = await createKey(store, compte.id_compte, { nom: 'test', portee: [], ...request })
  return key
}

/** What the tests sign in with. */
export const ACCOUNT = { login: 'alice', password: 'correct horse battery', idAuteur: 1 }

export interface TestServer {
  app: FastifyInstance
  store: Store
  /** The store's `--database` address. */
  database: string
  /** The server's address, without a slash at its end. */
  url: string
  /** A key of ACCOUNT; empty where the dump has no author 1. */
  key: string
  /** What was logged, a JSON object a line. */
  log: string[]
  metrics: Metrics
  /** A request with the key of ACCOUNT, unless `headers` has another credential. */
  get(path: string, init?: RequestInit): Promise<Response>
  /** The same, parsed. Throws where the status is not 200. */
  json<T = never>(path: string): Promise<T>
  /** A request without any credential. */
  anonymous(path: string, init?: RequestInit): Promise<Response>
  close(): Promise<void>
}

/** Serves a real store over real HTTP, filled with a dump; limits are off unless `settings` turns them on. */
export async function startServer(
  dump: Iterable<DumpLine> | string,
  options: { engine?: Engine; settings?: Partial<ServeOptions>; logLevel?: string } = {},
): Promise<TestServer> {
  const { store, url: database, close: closeStore } = await makeStore(options.engine)
  await importInto(store, dump)
  const hasAuteur = await store.read((db) =>
    db.get(db.q.selectFrom('auteurs').select('id_auteur').where('id_auteur', '=', 1)),
  )
  if (hasAuteur) await addAccount(store, ACCOUNT)
  const key = hasAuteur ? await addKey(store, ACCOUNT.login) : ''
  const log: string[] = []
  const metrics = new Metrics()
  const app = buildApp({
    store,
    settings: toAppSettings({ ...defaultOptions(), rateLimit: 0, ...options.settings }),
    metrics,
    log: pino({ level: options.logLevel ?? 'info', base: null }, { write: (line: string) => log.push(line) }),
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const anonymous = (path: string, init: RequestInit = {}) => fetch(url + path, { redirect: 'manual', ...init })
  const get = (path: string, init: RequestInit = {}) =>
    anonymous(path, { ...init, headers: { cookie: `api_key=${key}`, ...(init.headers as Record<string, string>) } })
  return {
    app,
    store,
    database,
    url,
    key,
    log,
    metrics,
    anonymous,
    get,
    async json(path) {
      const response = await get(path)
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`)
      return response.json() as never
    },
    async close() {
      await app.close()
      await closeStore()
    },
  }
}

/** What the options of `serve` are when nobody says. */
export function defaultOptions(): ServeOptions {
  const defaults = Object.entries(serveSettings).map(([name, setting]) => [
    name,
    'default' in setting ? setting.default : undefined,
  ])
  return { ...Object.fromEntries(defaults), database: '', host: '127.0.0.1', port: 0, metricsPort: 0 } as ServeOptions
}
