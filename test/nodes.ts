import { pino } from 'pino'
import { openStore } from '../src/store/open.js'
import type { Store } from '../src/store/store.js'
import { ACCOUNT, addAccount, addKey, type DumpLine, importInto, serveStore, type TestServer } from './harness.js'
import { PATIENCE } from './patience.js'

/** One of several nodes that serve the same portal. */
export interface Node extends Pick<TestServer, 'app' | 'url' | 'metrics'> {
  store: Store
  /** What the node and its store logged. */
  logged: string[]
  /** A request with a key, and its whole response. */
  get(path: string, key: string): Promise<Answer>
  close(): Promise<void>
}

export interface Answer {
  status: number
  headers: Headers
  text: string
}

export interface NodeOptions {
  replicas?: string[]
  connections?: number
  timeoutSeconds?: number
}

/** Serves a database that other nodes may serve too. */
export async function startNode(database: string, options: NodeOptions = {}): Promise<Node> {
  const logged: string[] = []
  const log = pino({ base: null }, { write: (line: string) => logged.push(line) })
  const { replicas, connections = 10, timeoutSeconds = PATIENCE.timeout / 1000 } = options
  const store = await openStore(database, { create: true, serving: { log, replicas, connections, timeoutSeconds } })
  const { app, url, metrics } = await serveStore(store, { logLevel: 'silent' })
  return {
    ...{ app, url, metrics, store, logged },
    async get(path, key) {
      const response = await fetch(url + path, { headers: { cookie: `api_key=${key}` } })
      return { status: response.status, headers: response.headers, text: await response.text() }
    },
    async close() {
      await app.close()
      await store.close()
    },
  }
}

/** Fills the portal of a store and returns a key of ACCOUNT. */
export async function fill(store: Store, dump: Iterable<DumpLine>): Promise<string> {
  await importInto(store, dump)
  await addAccount(store, ACCOUNT)
  return addKey(store, ACCOUNT.login)
}

/** Waits until a condition is true, and returns the milliseconds that took. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<number> {
  const start = performance.now()
  while (!(await holds())) {
    if (performance.now() - start > PATIENCE.timeout) throw new Error(`does not hold after ${PATIENCE.timeout} ms`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  return performance.now() - start
}
