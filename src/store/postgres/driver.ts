/** The only file that names the PostgreSQL driver. */
import type { Writable } from 'node:stream'
import pg, { type Client, type ClientConfig, type PoolClient } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { StoreError, type StoreFault } from '../store.js'
import type { Address } from './address.js'

export type { Client, PoolClient } from 'pg'
export { copyFrom }

const INT8 = 20
const NUMERIC = 1700

/** The time limits of a connection, in milliseconds. */
export interface ConnectOptions {
  /** The time to connect, or to wait for a free connection. */
  connect?: number
  /** The server's time limit for a statement. */
  statement?: number
  /** The client's time limit for an answer. */
  answer?: number
  /** How long a transaction may be idle until the server ends it, for example after the client lost its network. */
  idleTransaction?: number
}

const CONNECT_MILLISECONDS = 10_000

/** Opens a connection outside any pool. Its owner must `end()` it. */
export async function connect(address: Address, options: ConnectOptions = {}): Promise<Client> {
  const client = new pg.Client(configOf(address, options))
  client.on('error', () => undefined)
  try {
    await client.connect()
    return client
  } catch (error) {
    await client.end().catch(() => undefined)
    throw toConnectError(address, error)
  }
}

/** The server's process number that the client received when it connected. */
export function announcedProcess(client: Client): number | null {
  return (client as unknown as { processID: number | null }).processID
}

/** Sends all queries of one turn in one write, which is most of the cost of a short query here. */
export function sendTogether(client: Client | PoolClient): void {
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection
  if (stream.writableCorked > 0) return
  stream.cork()
  process.nextTick(() => stream.uncork())
}

/** Lends a connection outside any pool to one piece of work. Throws `StoreError` if the server fails. */
export async function withClient<T>(
  address: Address,
  work: (client: Client) => Promise<T>,
  options?: ConnectOptions,
): Promise<T> {
  const client = await connect(address, options)
  try {
    return await work(client)
  } catch (error) {
    throw toStoreError(address, error)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** A pool of connections. They send queries without waiting for the answers to earlier ones. */
export function makePool(address: Address, options: ConnectOptions, max: number): pg.Pool {
  const config = { ...configOf(address, options), pipeline: true }
  const pool = new pg.Pool({ ...config, max, idleTimeoutMillis: IDLE_MILLISECONDS })
  pool.on('error', () => undefined)
  // The queries of a lent connection report its failure; without a listener it would also end the process.
  pool.on('connect', (client: PoolClient) => {
    client.on('error', () => undefined)
    // Sent before the first query. If it fails, so does that query.
    client.query(SHORT_QUESTIONS).catch(() => undefined)
  })
  return pool
}

const IDLE_MILLISECONDS = 60_000

/** Queries of less than a millisecond gain nothing from a compiler or from more processes, but would wait for both. */
export const SHORT_QUESTIONS = 'set jit = off; set max_parallel_workers_per_gather = 0'

function configOf(address: Address, options: ConnectOptions): ClientConfig {
  const {
    connect: connectionTimeoutMillis = CONNECT_MILLISECONDS,
    statement = 0,
    answer,
    idleTransaction = 0,
  } = options
  return {
    connectionString: address.url,
    connectionTimeoutMillis,
    // As texts, because the driver does not send a 0, and then the settings of the role would apply.
    statement_timeout: String(statement) as never,
    idle_in_transaction_session_timeout: String(idleTransaction) as never,
    ...(answer === undefined ? {} : { query_timeout: answer }),
    fallback_application_name: 'palmares',
    keepAlive: true,
    types: { getTypeParser: parserOf as never },
  }
}

/** Our integers all fit a number, sums of them too. */
function parserOf(oid: number, format?: 'text' | 'binary') {
  return oid === INT8 || oid === NUMERIC ? Number : pg.types.getTypeParser(oid, format as 'text')
}

/** Turns faults that an operator can act on into a `StoreError`; faults of our own SQL pass unchanged. */
export function toStoreError(address: Address, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const isOfServer = 'severity' in error
  if (!isOfServer && error.name === 'Problem') return error
  const known = isOfServer ? (faults[code] ?? faults[code.slice(0, 3)] ?? faults[code.slice(0, 2)]) : undefined
  if (known) {
    const [fault, message] = known
    const shown = typeof message === 'string' ? message : message(address)
    return new StoreError(fault, `${address.shown}: ${shown}`, { cause: error })
  }
  if (isOfServer || !isOfConnection(error, code)) return error
  const message =
    connectionFaults[code || error.message] ??
    `cannot be reached (${code || error.message}); check that PostgreSQL runs there`
  return new StoreError('unreachable', `${address.shown}: ${message}`, { cause: error })
}

/** The same for a new connection: then everything that the server reports is for the operator. */
export function toConnectError(address: Address, error: unknown): unknown {
  const known = toStoreError(address, error)
  if (known instanceof StoreError || !(error instanceof Error)) return known
  const message = `${address.shown}: the server refuses the connection: ${error.message.replace(/\s+/g, ' ')}`
  return new StoreError('unreachable', message, { cause: error })
}

/** The driver has no codes for its own faults; these are words of its messages. */
const DRIVER_FAULTS =
  /terminated|timeout|timed out|not queryable|connection error|server does not support SSL|self.signed|certificate|SASL|SCRAM|password|pool/i

function isOfConnection(error: Error, code: string): boolean {
  return code !== '' || DRIVER_FAULTS.test(error.message)
}

const connectionFaults: Record<string, string> = {
  'Query read timeout': 'PostgreSQL does not answer in time; look at its load and its log',
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED); check the host, the port and that PostgreSQL runs',
  ENOTFOUND: 'there is no such host (ENOTFOUND); check the address',
  'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string':
    'the server asks for a password; give one in the address, in PGPASSWORD or in ~/.pgpass',
  'The server does not support SSL connections': 'the server speaks no TLS; turn ssl on there, or say ?sslmode=disable',
  ENOENT: 'there is no such socket (ENOENT); check the folder of ?host=',
}

/** The message of a fault; it may need the address. */
type Fault = readonly [fault: StoreFault, message: string | ((address: Address) => string)]

const notWhole = (what: string): Fault => [
  'corrupt',
  `the schema is incomplete: ${what} is missing; restore a backup, or import a dump into a new database`,
]

const away = (what: string): Fault => ['unreachable', what]

const conflict: Fault = ['busy', 'conflict with another change; try again']

/** A prepared statement is on another connection than the one that it was prepared on. */
const sessionLost: Fault = ['unsupported', 'the pooler does not keep sessions; use session mode (pool_mode = session)']

/** By SQLSTATE, or by its class: https://www.postgresql.org/docs/current/errcodes-appendix.html. */
const faults: Record<string, Fault> = {
  '08': away('the connection broke; check that PostgreSQL runs and look at its log'),
  '23': conflict,
  '0A': away('a table changed while a connection was in use; it is replaced, try again'),
  '25': away('the server ended a transaction; look at its settings and its log'),
  '25006': ['readonly', 'this is a read-only server, such as a replica; give --database the primary'],
  '26000': sessionLost,
  '28': [
    'denied',
    ({ user }) =>
      `PostgreSQL refuses the user ${JSON.stringify(user)} or its password; correct the address, or pg_hba.conf`,
  ],
  '3D000': ['missing', ({ database }) => `there is no database ${JSON.stringify(database)}; make it with \`createdb\``],
  '3F000': ['missing', 'the search_path names no schema that exists; correct the address'],
  '40': conflict,
  '42501': [
    'denied',
    ({ user }) => `the user ${JSON.stringify(user)} may not do this; make it the owner of the database`,
  ],
  '42P05': sessionLost,
  '42P01': notWhole('a table'),
  '42703': notWhole('a column'),
  '53100': ['full', 'the disk of the server is full; free some space'],
  '53300': ['busy', 'the server has reached max_connections; raise it or lower --database-connections'],
  '53': away('the server is short of memory or other means; look at its log'),
  '55P03': ['busy', 'another process holds a lock; try again when it has finished'],
  '55': away('the server is in a state where it does not do this; look at its log'),
  '57014': ['slow', 'the statement timed out'],
  '57P': away('the server is starting, stopping or was restarted; try again'),
  '58': away('the server has trouble with its files; look at its log'),
  XX001: ['corrupt', 'the server says that its files are damaged; restore a backup'],
  XX002: ['corrupt', 'the server says that an index is damaged; run `palmares check --repair`'],
}
