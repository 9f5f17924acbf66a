/** Every option that several commands share: its flag, its form, its default. Options of one command are in its file. */

import {
  databaseUrl,
  hostNames,
  httpUrl,
  integer,
  oneOf,
  originList,
  proxyList,
  redisUrl,
  replicaUrls,
} from './forms.js'
import { DEFAULT_BOUNDS } from './parameters.js'

/** One option of a command: its flag, its help text, how its value is read, its default. */
export interface Setting {
  /** In commander's form: `--port <number>`, or `--quiet` for one that takes no value. */
  flags: string
  description: string
  /** Its environment variable, if options of this name take different values in different commands. */
  variable?: string
  parse?: (text: string, before?: unknown) => unknown
  default?: unknown
}

export const database: Setting = {
  flags: '--database <url>',
  description: 'the store, sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE',
  default: 'sqlite:data/palmares.db',
  parse: databaseUrl,
}

/** What `import` and `accounts remove` share. */
export const removeOperators: Setting = {
  flags: '--remove-operators',
  description: 'go on even if no enabled operator is left',
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
    description: 'the public URL, for links; default: taken from Host',
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
    description: 'trust X-Forwarded-* from these addresses or ranges, comma-separated; "loopback" for this machine',
    parse: proxyList,
  },
  corsOrigin: {
    flags: '--cors-origin <list>',
    description: 'origins whose pages may call, comma-separated, such as https://tableau.example',
    parse: originList,
  },
  rootmeHost: {
    flags: '--rootme-host <name>',
    description: 'a host name with the dialect of /rootme/ at its root; repeatable, or comma-separated',
    parse: hostNames,
  },
  rateLimit: {
    flags: '--rate-limit <requests>',
    description: 'requests per minute and account; 0 turns the limits of accounts and addresses off',
    default: 600,
    parse: integer(0, 1_000_000_000),
  },
  addressRateLimit: {
    flags: '--address-rate-limit <requests>',
    description: 'requests per minute and address without a valid credential',
    default: 300,
    parse: integer(1, 1_000_000_000),
  },
  loginRateLimit: {
    flags: '--login-rate-limit <tries>',
    description: 'failed logins per minute for one login from one address',
    default: 10,
    parse: integer(1, 1_000_000),
  },
  loginAddressRateLimit: {
    flags: '--login-address-rate-limit <tries>',
    description: 'failed logins per minute and address',
    default: 60,
    parse: integer(1, 1_000_000),
  },
  loginTotalRateLimit: {
    flags: '--login-total-rate-limit <tries>',
    description: 'failed logins per minute for one login, from all unknown addresses together',
    default: 100,
    parse: integer(1, 1_000_000),
  },
  loginQueue: {
    flags: '--login-queue <logins>',
    description: 'length of each of the two queues for password checks, of known and of other addresses',
    default: 500,
    parse: integer(1, 100_000),
  },
  loginWaitSeconds: {
    flags: '--login-wait-seconds <seconds>',
    description: 'how long a login waits for its password check, before a 503',
    default: 5,
    parse: integer(1, 60),
  },
  openCtftime: {
    flags: '--open-ctftime',
    description: 'answer /ctftime without a credential, so that CTFtime can poll it',
  },
  refuseGetLogin: {
    flags: '--refuse-get-login',
    description:
      'refuse all logins whose password is in a query; default: only those of browser navigation or of other sites',
  },
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
  maxBulkBytes: {
    flags: '--max-bulk-bytes <bytes>',
    description: 'the body of a request that takes NDJSON',
    default: DEFAULT_BOUNDS.bulkBytes,
    parse: integer(1_024, 67_108_864),
  },
  maxBulkLines: {
    flags: '--max-bulk-lines <lines>',
    description: 'the lines of a request that takes NDJSON',
    default: DEFAULT_BOUNDS.bulkLines,
    parse: integer(1, 1_000_000),
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
    description: 'maximum concurrent connections; further ones are closed',
    default: 10_000,
    parse: integer(1, 1_000_000),
  },
  cacheMegabytes: {
    flags: '--cache-megabytes <MB>',
    description: 'size of the response cache',
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
    description: 'worker processes that share the port',
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
    description: 'total time that a request may wait for PostgreSQL, before a 503',
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
