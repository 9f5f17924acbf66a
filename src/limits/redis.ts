import { hash } from 'node:crypto'
import { once } from 'node:events'
import { Redis, type Result } from 'ioredis'
import type { Log } from '../log.js'
import { Breaker, type BreakerTimes, reasonOf, type Server } from './breaker.js'
import type { Limits } from './limits.js'

const START_MILLISECONDS = 1_000
const CONNECT_MILLISECONDS = 2_000
const MAX_BACKOFF_MILLISECONDS = 2_000
/** How long to wait for the server to close a connection before it is destroyed. */
const GOODBYE_MILLISECONDS = 100

/**
 * The window follows the server's clock, so that nodes need no synchronised clocks. It is stored in the value, so that the
 * script declares its only key, as proxies and clusters require. A malformed value counts as unused.
 */
const COUNT = `
local quota, length, step = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local seconds = tonumber(redis.call('TIME')[1])
local window = math.floor(seconds / length)
local reset = (window + 1) * length - seconds
local held = redis.pcall('GET', KEYS[1])
local prefix, count = string.match(type(held) == 'string' and held or '', '^(%d+:)(%d+)$')
local current = string.format('%d:', window)
local used = prefix == current and tonumber(count) or 0
if step > 0 and used >= quota then return {0, 0, reset} end
if step < 0 and used == 0 then return {1, quota, reset} end
redis.call('SET', KEYS[1], current .. string.format('%d', used + step), 'EX', reset + 1)
return {1, math.max(0, quota - used - step), reset}`

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /** Counts a step, 1 or -1. Returns whether it was allowed, what remains, and the seconds to the end of the window. */
    palmaresCount(key: string, quota: number, window: number, step: number): Result<[number, number, number], Context>
  }
}

/**
 * Limits that several nodes share through a Redis or Valkey server; `fallback` counts while it is down. If it cannot be reached
 * at startup, a warning is logged, and the limits are shared as soon as it is up.
 */
export async function openRedisLimits(
  url: string,
  fallback: Limits,
  log: Log,
  /** Only tests set it. */
  times?: BreakerTimes,
): Promise<Limits> {
  let attempts = 0
  const redis = connect(new URL(url), () => Math.min(50 * 2 ** Math.min(attempts++, 10), MAX_BACKOFF_MILLISECONDS))
  const server: Server = {
    name: `${redis.options.host}:${redis.options.port}`,
    clients: 'node',
    isConnected: () => redis.status === 'ready',
    probe: async () => {
      await redis.palmaresCount('palmares:limite:sonde', 1_000_000_000, 1, 1)
      attempts = 0
      return true
    },
    // A connected client that waits for the reply to its greeting may wait for ever.
    reconnect: () => /^(connect|ready)$/.test(redis.status) && redis.disconnect(true),
  }
  const breaker = new Breaker(server, log, times)
  redis.on('error', (error: Error & { command?: { name: string } }) => {
    const hasNoDatabase = error.command?.name === 'select'
    // The connection would continue on database 0, which was not configured.
    if (hasNoDatabase) redis.disconnect(true)
    breaker.fail(hasNoDatabase ? 'it has no such database for us' : reasonOf(error))
  })
  redis.on('close', () => breaker.fail('connection lost'))
  // Waits briefly for the server, so that the first requests are shared too.
  await once(redis, 'ready', { signal: AbortSignal.timeout(START_MILLISECONDS) }).catch(() => undefined)
  await breaker.start()
  return {
    limiter(name, quota, windowSeconds) {
      const prefix = `palmares:limite:${name}:${windowSeconds}:`
      return breaker.limiter(fallback.limiter(name, quota, windowSeconds), async (caller, step) => {
        // Only a hash of the caller goes to the server, because it must not store logins and addresses.
        const key = prefix + hash('sha256', caller, 'base64url').slice(0, 22)
        const [allowed, remaining, resetSeconds] = await redis.palmaresCount(key, quota, windowSeconds, step)
        return { allowed: allowed === 1, remaining, resetSeconds }
      })
    },
    async close() {
      breaker.stop()
      // Between two connections there is no connection whose end could be awaited.
      const isConnected = redis.status !== 'reconnecting' && redis.status !== 'end'
      const ended = isConnected && once(redis, 'end').catch(() => undefined)
      redis.disconnect()
      await ended
      await fallback.close()
    },
  }
}

function connect(url: URL, retryStrategy: () => number): Redis {
  const redis = new Redis({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 6379),
    ...(url.username && { username: decodeURIComponent(url.username) }),
    ...(url.password && { password: decodeURIComponent(url.password) }),
    ...(url.protocol === 'rediss:' && { tls: {} }),
    db: Number(url.pathname.slice(1)),
    connectionName: 'palmares',
    connectTimeout: CONNECT_MILLISECONDS,
    disconnectTimeout: GOODBYE_MILLISECONDS,
    retryStrategy,
    enableAutoPipelining: true,
    // The probe verifies more than a ready check, which also needs its own permission.
    enableReadyCheck: false,
    // Commands are neither queued nor resent, because the fallback has counted them meanwhile.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  })
  redis.defineCommand('palmaresCount', { numberOfKeys: 1, lua: COUNT })
  return redis
}
