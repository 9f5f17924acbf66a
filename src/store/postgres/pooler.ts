import { StoreError } from '../store.js'
import type { Address } from './address.js'
import { announcedProcess, type Client, withClient } from './driver.js'

/** A look at a pooler is short, unless it has no connection left. */
const LOOK_MILLISECONDS = 10_000
/** Who asks: each client in turn, first and last alternately, or two servers that take turns would look like two sessions. */
const TURNS = ['one', 'other', 'other', 'one', 'one', 'other', 'other', 'one'] as const

/**
 * Throws `StoreError` behind a pooler in transaction mode: settings, prepared statements and `listen` need a session. Costs a
 * question where there is no pooler.
 */
export async function refusePooler(address: Address, client: Client): Promise<void> {
  // A pooler tells a number of its own when it takes a connection.
  if ((await processOf(client)) === announcedProcess(client)) return
  if (await keepsSessions(address, client)) return
  throw new StoreError(
    'unsupported',
    `${address.shown}: a pooler in transaction mode is in front of the server; give --database the server itself, or a pooler in session mode (pool_mode = session)`,
  )
}

/**
 * Whether each of two clients keeps a process of the server to itself. In transaction mode each question gets a free one: the
 * last one used, which makes both clients see the same, or each in turn, which makes one client see several.
 */
function keepsSessions(address: Address, one: Client): Promise<boolean> {
  const look = async (other: Client) => {
    const seen = { one: new Set<number>(), other: new Set<number>() }
    for (const who of TURNS) seen[who].add(await processOf(who === 'one' ? one : other))
    return seen.one.size === 1 && seen.other.size === 1 && ![...seen.one].some((pid) => seen.other.has(pid))
  }
  return withClient(address, look, { answer: LOOK_MILLISECONDS })
}

async function processOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return (rows[0] as { pid: number }).pid
}
