import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { inject, vi } from 'vitest'
import { buildApp } from '../src/app.js'
import { createKey } from '../src/auth/cles.js'
import { findCompte, insertCompte } from '../src/auth/comptes-queries.js'
import { hashPassword } from '../src/auth/passwords.js'
import { toServerOptions } from '../src/config.js'
import type { WholeLimits } from '../src/http/large.js'
import { Metrics } from '../src/http/metrics.js'
import { trafficAlone } from '../src/http/traffic.js'
import { nowSeconds } from '../src/instant.js'
import type { Limits } from '../src/limits/limits.js'
import { LocalLimits } from '../src/limits/local.js'
import type { Scope } from '../src/model/scopes.js'
import { defaultsOf, SERVE_OPTIONS, type ServeOptions } from '../src/options.js'
import { exportText } from '../src/portal/export/export.js'
import { type ImportOptions, type ImportReport, importDump } from '../src/portal/import.js'
import { EVERYTHING } from '../src/store/journal.js'
import { openStore } from '../src/store/open.js'
import type { Serving } from '../src/store/opening.js'
import type { Db, Store, Versions } from '../src/store/store.js'
import { PATIENCE } from './patience.js'
import { createDatabase, dropDatabase, runSql } from './servers/postgres.js'

export type DumpLine = Record<string, unknown>

export type Engine = 'sqlite' | 'postgres'

const postgresUrl = inject('postgresUrl')

/** The engines that every test of the contract runs on. A run without PostgreSQL has printed a warning. */
export const engines: readonly Engine[] = postgresUrl ? ['sqlite', 'postgres'] : ['sqlite']

export interface MadeStore {
  store: Store
  /** Its `--database` address. */
  url: string
  close(): Promise<void>
}

/** An empty store of an engine, as `serve` opens it. `close` removes it. */
export async function makeStore(engine: Engine = 'sqlite'): Promise<MadeStore> {
  return engine === 'postgres' ? makePostgres() : makeSqlite()
}

async function makeSqlite(): Promise<MadeStore> {
  const { url, remove } = makeSqlitePlace()
  return openMade(url, remove)
}

async function makePostgres(): Promise<MadeStore> {
  const url = await createDatabase(postgresUrl as string, inject('postgresTemplate'))
  return openMade(url, () => dropDatabase(url))
}

async function openMade(url: string, remove: () => unknown): Promise<MadeStore> {
  const store = await openStore(url, { create: true, serving })
  const close = async () => {
    await store.close()
    await remove()
  }
  return { store, url, close }
}

/** An address where a store of an engine can be created. `remove` deletes it. */
export async function makePlace(engine: Engine): Promise<{ url: string; remove(): unknown }> {
  if (engine === 'sqlite') return makeSqlitePlace()
  const url = await createDatabase(postgresUrl as string)
  return { url, remove: () => dropDatabase(url) }
}

function makeSqlitePlace() {
  const folder = makeFolder()
  const remove = () => rmSync(folder, { recursive: true, force: true })
  return { url: `sqlite:${join(folder, 'portal.db')}`, remove }
}

/** Waits until a serving store knows the latest commits of others. With SQLite its next request reads them anyway. */
export async function waitForChanges({ store, database }: Pick<TestServer, 'store' | 'database'>): Promise<void> {
  if (store.engine === 'sqlite') return
  const sql = 'select version_donnees as donnees, version_comptes as comptes from etat'
  const [now] = (await runSql<Record<keyof Versions, string>>(database, sql)) as [Record<keyof Versions, string>]
  await vi.waitUntil(async () => {
    const { donnees, comptes } = await store.versions()
    return donnees >= Number(now.donnees) && comptes >= Number(now.comptes)
  }, PATIENCE)
}

const silent = { info: () => undefined, warn: () => undefined }
/** A long timeout, because the tests share the machine. */
const serving: Serving = { log: silent, connections: 10, timeoutSeconds: PATIENCE.timeout / 1000 }

export function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), 'palmares-'))
}

/** Imports lines, or a text, as `palmares import` does. */
export function importInto(
  store: Store,
  lines: Iterable<DumpLine> | string,
  options: Partial<ImportOptions> = {},
): Promise<ImportReport> {
  const text = typeof lines === 'string' ? lines : [...lines].map((line) => `${JSON.stringify(line)}\n`).join('')
  return importDump(store, Readable.from([Buffer.from(text)]), { replace: false, withAccounts: false, ...options })
}

/** The whole store as dump lines. */
export async function exportFrom(
  store: Store,
  options: { withAccounts?: boolean; withGelees?: boolean } = {},
): Promise<DumpLine[]> {
  return store.read(async (db) => {
    let text = ''
    for await (const piece of exportText(db, { format: 'ndjson', ...options })) text += piece
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  })
}

/** A visible change of the data: one more category. */
export function addRubrique(store: Store, nom: string): Promise<void> {
  return store.write({ donnees: EVERYTHING }, async (db) => {
    await db.exec(
      'insert into rubriques (id_rubrique, nom) select coalesce(max(id_rubrique), 0) + 1, ? from rubriques',
      nom,
    )
  })
}

/** The names of the categories. */
export async function rubriques(db: Db): Promise<string[]> {
  return (await db.select<{ nom: string }>('select nom from rubriques order by id_rubrique')).map(({ nom }) => nom)
}

const hashes = new Map<string, Promise<string>>()

/** The hash of a password, which takes time on purpose, so each is made once. */
function hashOf(password: string): Promise<string> {
  const made = hashes.get(password) ?? hashPassword(password)
  hashes.set(password, made)
  return made
}

/** Adds an account for an existing author. */
export async function addAccount(
  store: Store,
  account: { login: string; password: string; idAuteur: number; operator?: boolean },
): Promise<void> {
  const motDePasse = await hashOf(account.password)
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

/** Creates a key as `palmares keys create` does, and returns it. */
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

/** The account that the tests sign in with. */
export const ACCOUNT = { login: 'alice', password: 'correct horse battery', idAuteur: 1 }
/** An operator. A test that needs the account adds it. */
export const OPERATOR = { login: 'root', password: 'the one who runs it', idAuteur: 1, operator: true }

/** A key of OPERATOR with the scope export. Adds the account. */
export async function exportKey({ store }: Pick<TestServer, 'store'>): Promise<string> {
  await addAccount(store, OPERATOR)
  return addKey(store, OPERATOR.login, { portee: ['export'] })
}

export interface TestServer {
  app: FastifyInstance
  store: Store
  /** The store's `--database` address. */
  database: string
  /** The server's URL, without a trailing slash. */
  url: string
  /** A key of ACCOUNT; empty if the dump has no author 1. */
  key: string
  /** The log lines, one JSON object each. */
  log: string[]
  metrics: Metrics
  /** A request with the key of ACCOUNT, unless `headers` has another credential. */
  get(path: string, init?: RequestInit): Promise<Response>
  /** The same, parsed. Throws unless the status is 200. */
  json<T = never>(path: string): Promise<T>
  /** A request without any credential. */
  anonymous(path: string, init?: RequestInit): Promise<Response>
  close(): Promise<void>
}

/** Serves a real store over real HTTP, filled with a dump. Rate limits are off unless `settings` enables them. */
export async function startServer(
  dump: Iterable<DumpLine> | string,
  options: AppOptions & { engine?: Engine } = {},
): Promise<TestServer> {
  const { store, url: database, close: closeStore } = await makeStore(options.engine)
  await importInto(store, dump)
  const hasAuteur = await store.read((db) =>
    db.get(db.q.selectFrom('auteurs').select('id_auteur').where('id_auteur', '=', 1)),
  )
  if (hasAuteur) await addAccount(store, ACCOUNT)
  const key = hasAuteur ? await addKey(store, ACCOUNT.login) : ''
  const { app, url, log, metrics } = await serveStore(store, options)
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

export interface AppOptions {
  settings?: Partial<ServeOptions>
  logLevel?: string
  limits?: Limits
  wholeLimits?: WholeLimits
}

/** Serves an open store on a free port. Rate limits are off unless `settings` enables them. */
export async function serveStore(
  store: Store,
  options: AppOptions = {},
): Promise<Pick<TestServer, 'app' | 'url' | 'log' | 'metrics'>> {
  const log: string[] = []
  const metrics = new Metrics()
  const app = buildApp({
    store,
    options: toServerOptions({ ...defaultOptions(), rateLimit: 0, ...options.settings }),
    metrics,
    observe: () => trafficAlone(metrics),
    limits: options.limits ?? new LocalLimits(vi.isFakeTimers() ? Date.now : endlessMinute),
    ...(options.wholeLimits && { wholeLimits: options.wholeLimits }),
    log: pino({ level: options.logLevel ?? 'info', base: null }, { write: (line: string) => log.push(line) }),
  })
  return { app, url: await app.listen({ host: '127.0.0.1', port: 0 }), log, metrics }
}

/** No window ends during a test that does not set the clock itself. */
const endlessMinute = () => 0

/** The defaults of the options of `serve`. */
export function defaultOptions(): ServeOptions {
  return { ...defaultsOf(SERVE_OPTIONS), database: '', port: 0, metricsPort: 0 }
}
