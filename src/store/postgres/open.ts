import type { Migration } from '../migrations/migration.js'
import type { MigrateOptions, OpenOptions, Serving } from '../opening.js'
import { type Store, StoreError } from '../store.js'
import { type Address, readAddress } from './address.js'
import { inspect, runMigrations } from './migrate.js'
import { Replica } from './replicas.js'
import { searchOf } from './search.js'
import { Server } from './server.js'
import { PostgresStore } from './store.js'
import { Watcher } from './watcher.js'

/** A command of its own needs few connections, and all the time it takes. */
const COMMAND_CONNECTIONS = 4
/** A replica that does not answer must leave time for the primary. */
const MAX_REPLICA_MILLISECONDS = 1_000

export async function open(url: string, { create, serving }: OpenOptions): Promise<Store> {
  const address = addressOf(url)
  let schema = await inspect(address)
  if (schema.pending.length > 0) {
    if (!create) throw needsMigration(address, schema.pending)
    // A store that was made without search indexes stays without; another one gets those of new tables.
    await runMigrations(address, { withoutTrigrams: schema.lacksSearch })
    schema = await inspect(address)
  }
  const search = searchOf(schema.hasSearch)
  const timeoutMilliseconds = serving && serving.timeoutSeconds * 1000
  const primary = new Server(address, search, {
    connections: serving?.connections ?? COMMAND_CONNECTIONS,
    timeoutMilliseconds,
  })
  if (!serving) return new PostgresStore(primary, search)
  if (!schema.hasSearch) {
    serving.log.warn(
      `${address.shown}: there are no search indexes, so searches read the table; see \`palmares migrate\``,
    )
  }
  const { siblings } = serving
  const watcher = new Watcher(address, serving.log, () => primary.renew(), siblings)
  const replicas = (serving.replicas ?? []).map((replica) => makeReplica(addressOf(replica), serving, watcher, search))
  const store = new PostgresStore(primary, search, { watcher, replicas, connections: serving.connections, siblings })
  try {
    await watcher.start()
    siblings?.join(watcher)
    for (const replica of replicas) await replica.prove()
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

/** The migrations that a database lacks. */
export async function pending(url: string): Promise<Migration[]> {
  return (await inspect(addressOf(url))).pending
}

export function migrate(url: string, options: MigrateOptions): Promise<Migration[]> {
  return runMigrations(addressOf(url), options)
}

function makeReplica(
  address: Address,
  serving: Serving,
  watcher: Watcher,
  search: ReturnType<typeof searchOf>,
): Replica {
  const timeoutMilliseconds = Math.min(MAX_REPLICA_MILLISECONDS, (serving.timeoutSeconds * 1000) / 2)
  const server = new Server(address, search, { connections: serving.connections, timeoutMilliseconds })
  return new Replica(server, watcher, serving.log)
}

function addressOf(url: string): Address {
  const address = readAddress(url)
  if (typeof address === 'string') throw new StoreError('unreachable', `the address ${address}`)
  return address
}

function needsMigration(address: Address, pending: Migration[]): StoreError {
  if (pending[0]?.version === 1) {
    return new StoreError(
      'missing',
      `${address.shown}: there is no store here; \`palmares import FILE\` or \`palmares serve\` makes one`,
    )
  }
  return new StoreError('older', `${address.shown}: the store needs a newer schema; run \`palmares migrate\``)
}
