import { readFileSync } from 'node:fs'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { InvalidArgumentError, Option } from 'commander'
import type { AppSettings } from './app.js'
import { DEFAULT_BOUNDS } from './contract.js'
import {
  databaseUrl,
  httpUrl,
  integer,
  oneOf,
  originList,
  proxyList,
  readFlag,
  redisUrl,
  replicaUrls,
  SecretArgumentError,
} from './forms.js'

import type { Serving } from './store/opening.js'
import { isPostgres } from './store/postgres/address.js'
import type { StoreLog } from './store/store.js'

/** The version of the package. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version

/** One option of a command: its flag, what it says, how its text is read, what it is when nobody says. */
export interface Setting {
  /** As commander has them: `--port <number>`, or `--quiet` for one that takes no value. */
  flags: string
  description: string
  parse?: (text: string, before?: unknown) => unknown
  default?: unknown
}

/** Turns a setting into an option of the command line that the environment may also give; the flag wins. */
export function toOption(setting: Setting): Option {
  const option = new Option(setting.flags)
  const variable = `PALMARES_${option.name().replaceAll('-', '_').toUpperCase()}`
  const isFlag = !option.required && !option.optional
  const fromEnvironment = process.env[variable]
  option.description = `${setting.description} (env: ${variable})`
  if (setting.parse) option.argParser(named(`--${option.name()}`, setting.parse, option))
  if (fromEnvironment !== undefined && fromEnvironment !== '') {
    const parse = isFlag ? readFlag : setting.parse
    option.default(readVariable(variable, fromEnvironment, parse && named(variable, parse, option)), `from ${variable}`)
  } else if (setting.default !== undefined) option.default(setting.default)
  return option
}

type Parse = NonNullable<Setting['parse']>

/** A parser whose refusals begin with a name. A list that comes with the flag replaces the one of the environment. */
function named(name: string, parse: Parse, option: Option): (text: string, before?: unknown) => never {
  return (text, before) => {
    try {
      return parse(text, before === option.defaultValue ? undefined : before) as never
    } catch (error) {
      if (!(error instanceof SecretArgumentError)) throw error
      throw new SecretArgumentError(`${name} ${error.message}`, error.status)
    }
  }
}

/** A variable of the environment does not have the form that its option takes. */
export class EnvironmentError extends Error {}

/** A file that an option names cannot be used. */
export class FileError extends Error {}

export const database: Setting = {
  flags: '--database <url>',
  description: 'the store, sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE',
  default: 'sqlite:data/palmares.db',
  parse: databaseUrl,
}

export const host: Setting = {
  flags: '--host <address>',
  description: 'the address to listen on; 0.0.0.0 for every interface',
  default: '127.0.0.1',
}

export const port: Setting = {
  flags: '--port <number>',
  description: 'the port to listen on',
  default: 8080,
  parse: integer(0, 65_535),
}

/** What `serve` and `demo` share, besides where they listen. */
export const serveSettings = {
  publicUrl: {
    flags: '--public-url <url>',
    description: 'the address that clients see, for links; without it, what Host says',
    parse: httpUrl,
  },
  portalUrl: {
    flags: '--portal-url <url>',
    description: "the base address of the portal's own pages, for url_challenge",
    default: 'http://127.0.0.1:8080/portail/',
    parse: httpUrl,
  },
  tlsCert: { flags: '--tls-cert <file>', description: 'serve TLS with this certificate chain, PEM' },
  tlsKey: { flags: '--tls-key <file>', description: 'the key of --tls-cert, PEM' },
  trustProxy: {
    flags: '--trust-proxy <list>',
    description: 'believe X-Forwarded-* from these addresses or ranges, comma-separated; "loopback" for this machine',
    parse: proxyList,
  },
  corsOrigin: {
    flags: '--cors-origin <list>',
    description: 'origins whose pages may call, comma-separated, such as https://tableau.example',
    parse: originList,
  },
  rateLimit: {
    flags: '--rate-limit <requests>',
    description: 'requests a minute for an account; 0 turns the limits of accounts and addresses off',
    default: 600,
    parse: integer(0, 1_000_000_000),
  },
  addressRateLimit: {
    flags: '--address-rate-limit <requests>',
    description: 'requests a minute for an address without a valid credential',
    default: 300,
    parse: integer(1, 1_000_000_000),
  },
  loginRateLimit: {
    flags: '--login-rate-limit <tries>',
    description: 'failed logins a minute for one login from one address',
    default: 10,
    parse: integer(1, 1_000_000),
  },
  loginAddressRateLimit: {
    flags: '--login-address-rate-limit <tries>',
    description: 'failed logins a minute for an address',
    default: 60,
    parse: integer(1, 1_000_000),
  },
  refuseGetLogin: { flags: '--refuse-get-login', description: 'refuse logins whose password is in a query' },
  maxHeadBytes: {
    flags: '--max-head-bytes <bytes>',
    description: 'the address and the headers of a request together',
    default: 16_384,
    parse: integer(1_024, 1_048_576),
  },
  maxBodyBytes: {
    flags: '--max-body-bytes <bytes>',
    description: 'the body of a request',
    default: 16_384,
    parse: integer(1_024, 16_777_216),
  },
  maxFilterCharacters: {
    flags: '--max-filter-characters <characters>',
    description: 'the text of a filter',
    default: DEFAULT_BOUNDS.filterCodePoints,
    parse: integer(1, 1_000),
  },
  requestTimeoutSeconds: {
    flags: '--request-timeout-seconds <seconds>',
    description: 'how long a request may take to arrive',
    default: 30,
    parse: integer(1, 3_600),
  },
  keepAliveSeconds: {
    flags: '--keep-alive-seconds <seconds>',
    description: 'how long an idle connection stays open',
    default: 65,
    parse: integer(1, 3_600),
  },
  maxConnections: {
    flags: '--max-connections <connections>',
    description: 'connections at once; those beyond are closed',
    default: 10_000,
    parse: integer(1, 1_000_000),
  },
  cacheMegabytes: {
    flags: '--cache-megabytes <MB>',
    description: 'ready answers held in memory',
    default: 64,
    parse: integer(0, 65_536),
  },
  logLevel: {
    flags: '--log-level <level>',
    description: 'what is logged: debug, info, warn, error or silent',
    default: 'info',
    parse: oneOf(['debug', 'info', 'warn', 'error', 'silent']),
  },
} satisfies Record<string, Setting>

/** What `serve` alone has: more processes, more nodes, more servers behind them. */
export const scaleSettings = {
  workers: {
    flags: '--workers <number>',
    description: 'processes that serve, on one port',
    default: 1,
    parse: integer(1, 256),
  },
  replica: {
    flags: '--replica <url>',
    description: 'a streaming replica of a PostgreSQL --database to read from; repeatable, or comma-separated',
    parse: replicaUrls,
  },
  limits: {
    flags: '--limits <url>',
    description: 'share the limits with other nodes through a Valkey or Redis server, redis://HOST',
    parse: redisUrl,
  },
  databaseConnections: {
    flags: '--database-connections <number>',
    description: 'connections of each process to each PostgreSQL server',
    default: 10,
    parse: integer(1, 1_000),
  },
  databaseTimeoutSeconds: {
    flags: '--database-timeout-seconds <seconds>',
    description: 'how long a request may wait for PostgreSQL in all, before a 503',
    default: 5,
    parse: integer(1, 3_600),
  },
} satisfies Record<string, Setting>

export const metricsPort: Setting = {
  flags: '--metrics-port <number>',
  description: 'the loopback port of /metrics for Prometheus; 0 turns it off',
  default: 9464,
  parse: integer(0, 65_535),
}

/** The options of `serve` and `demo` as commander hands them over. */
export interface ServeOptions {
  database: string
  host: string
  port: number
  metricsPort: number
  publicUrl?: string
  portalUrl: string
  tlsCert?: string
  tlsKey?: string
  trustProxy?: string
  corsOrigin?: string[]
  rateLimit: number
  addressRateLimit: number
  loginRateLimit: number
  loginAddressRateLimit: number
  refuseGetLogin?: boolean
  maxHeadBytes: number
  maxBodyBytes: number
  maxFilterCharacters: number
  requestTimeoutSeconds: number
  keepAliveSeconds: number
  maxConnections: number
  cacheMegabytes: number
  logLevel: string
  replica?: string[]
  limits?: string
  workers?: number
  databaseConnections?: number
  databaseTimeoutSeconds?: number
}

/** The one frozen value that the server is built from. Throws a line for the operator where files are wrong. */
export function toAppSettings(options: ServeOptions): Readonly<AppSettings> {
  return Object.freeze({
    publicUrl: options.publicUrl,
    portalUrl: options.portalUrl,
    tls: readTls(options),
    trustProxy: options.trustProxy,
    corsOrigins: Object.freeze(options.corsOrigin ?? []),
    requestsPerAccount: options.rateLimit,
    requestsPerAddress: options.addressRateLimit,
    failuresPerLogin: options.loginRateLimit,
    failuresPerAddress: options.loginAddressRateLimit,
    allowGetLogin: options.refuseGetLogin !== true,
    maxHeadBytes: options.maxHeadBytes,
    maxBodyBytes: options.maxBodyBytes,
    requestTimeoutSeconds: options.requestTimeoutSeconds,
    keepAliveSeconds: options.keepAliveSeconds,
    maxConnections: options.maxConnections,
    cacheBytes: options.cacheMegabytes * 1_000_000,
    version: VERSION,
    bounds: Object.freeze({ filterCodePoints: options.maxFilterCharacters }),
  })
}

/** What the store needs to know to serve. */
export function toServing(options: ServeOptions, log: StoreLog): Serving {
  if (options.replica && !isPostgres(options.database)) {
    throw new EnvironmentError('--replica goes with a PostgreSQL --database alone')
  }
  return {
    log,
    replicas: options.replica,
    connections: options.databaseConnections ?? scaleSettings.databaseConnections.default,
    timeoutSeconds: options.databaseTimeoutSeconds ?? scaleSettings.databaseTimeoutSeconds.default,
  }
}

function readTls({ tlsCert, tlsKey }: ServeOptions): AppSettings['tls'] {
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert === undefined || tlsKey === undefined) throw new EnvironmentError('--tls-cert and --tls-key go together')
  const cert = readNamed(tlsCert)
  const key = readNamed(tlsKey)
  checkTls({ cert }, `${tlsCert}: this is not a certificate chain in PEM that can be served`)
  checkTls({ key }, `${tlsKey}: this is not a private key in PEM without a passphrase`)
  checkTls({ cert, key }, `${tlsKey}: this is not the key of ${tlsCert}`)
  return { cert, key }
}

/** Reads a file; the error always names it, as that of a folder does not. */
function readNamed(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw Object.assign(error as Error, { path: file })
  }
}

function checkTls(options: SecureContextOptions, fault: string): void {
  try {
    createSecureContext(options)
  } catch (error) {
    const { reason } = error as { reason?: string }
    throw new FileError(reason === undefined ? fault : `${fault} (${reason})`, { cause: error })
  }
}

function readVariable(variable: string, text: string, parse: Setting['parse']): unknown {
  try {
    return parse ? parse(text) : text
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    throw new EnvironmentError(`${variable} is not valid. ${error.message}`)
  }
}
