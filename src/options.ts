/** Every option that several commands share: its name, its form, its default. Options of one command are in its file. */

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

/** One option of a command, under its name: `tlsCert` is `--tls-cert`, and PALMARES_TLS_CERT in the environment. */
export interface CommandOption {
  /** What its value is called in the help, such as `<url>`. Without it the option is a flag. */
  value?: string
  description: string
  /** Its environment variable, if options of this name take different values in different commands. */
  variable?: string
  /** `before` is the value that the option got earlier on the same command line. */
  parse?(text: string, before?: unknown): unknown
  default?: unknown
}

export type CommandOptions = Readonly<Record<string, CommandOption>>

/** What the action of a command receives. An option without a default may be absent. */
export type OptionsOf<S extends CommandOptions> = {
  [K in keyof S as S[K] extends WithDefault ? K : never]: ValueOf<S[K]>
} & {
  [K in keyof S as S[K] extends WithDefault ? never : K]?: ValueOf<S[K]>
}

type WithDefault = { default: NonNullable<unknown> }
type ValueOf<S extends CommandOption> = S extends { parse(...args: never[]): infer V }
  ? V
  : S extends { value: string }
    ? string
    : boolean

/** The options that neither the command line nor the environment sets. */
export function defaultsOf<S extends CommandOptions>(options: S): OptionsOf<S> {
  const entries = Object.entries(options)
  return Object.fromEntries(entries.map(([name, option]) => [name, option.default])) as OptionsOf<S>
}

/** An option that takes an integer in a range. */
function number(value: string, byDefault: number, [min, max]: readonly [number, number], description: string) {
  return { value, description, default: byDefault, parse: integer(min, max) }
}

export const database = {
  value: '<url>',
  description: 'the store, sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE',
  default: 'sqlite:data/palmares.db',
  parse: databaseUrl,
} satisfies CommandOption

/** What `import` and `accounts remove` share. */
export const removeOperators = { description: 'go on even if no enabled operator is left' } satisfies CommandOption

export const json = { description: 'print a JSON array' } satisfies CommandOption

/** What `serve` and `demo` share, besides where they listen. */
export const HTTP_OPTIONS = {
  publicUrl: {
    value: '<url>',
    description: 'the public URL, for links; default: taken from Host',
    parse: httpUrl,
  },
  portalUrl: {
    value: '<url>',
    description: "the base address of the portal's own pages, for url_challenge",
    default: 'http://127.0.0.1:8080/portail/',
    parse: httpUrl,
  },
  tlsCert: { value: '<file>', description: 'serve TLS with this certificate chain, PEM' },
  tlsKey: { value: '<file>', description: 'the key of --tls-cert, PEM' },
  trustProxy: {
    value: '<list>',
    description: 'trust X-Forwarded-* from these addresses or ranges, comma-separated; "loopback" for this machine',
    parse: proxyList,
  },
  corsOrigin: {
    value: '<list>',
    description: 'origins whose pages may call, comma-separated, such as https://tableau.example',
    parse: originList,
  },
  rootmeHost: {
    value: '<name>',
    description: 'a host name with the dialect of /rootme/ at its root; repeatable, or comma-separated',
    parse: hostNames,
  },
  rateLimit: number(
    '<requests>',
    600,
    [0, 1_000_000_000],
    'requests per minute and account; 0 turns the limits of accounts and addresses off',
  ),
  addressRateLimit: number(
    '<requests>',
    300,
    [1, 1_000_000_000],
    'requests per minute and address without a valid credential',
  ),
  loginRateLimit: number('<tries>', 10, [1, 1_000_000], 'failed logins per minute for one login from one address'),
  loginAddressRateLimit: number('<tries>', 60, [1, 1_000_000], 'failed logins per minute and address'),
  loginTotalRateLimit: number(
    '<tries>',
    100,
    [1, 1_000_000],
    'failed logins per minute for one login, from all unknown addresses together',
  ),
  loginQueue: number(
    '<logins>',
    500,
    [1, 100_000],
    'length of each of the two queues for password checks, of known and of other addresses',
  ),
  loginWaitSeconds: number('<seconds>', 5, [1, 60], 'how long a login waits for its password check, before a 503'),
  openCtftime: {
    description: 'answer /ctftime without a credential, so that CTFtime can poll it',
  },
  refuseGetLogin: {
    description:
      'refuse all logins whose password is in a query; default: only those of browser navigation or of other sites',
  },
  maxHeadBytes: number('<bytes>', 16_384, [1_024, 1_048_576], 'the address and the headers of a request together'),
  maxBodyBytes: number('<bytes>', 16_384, [1_024, 16_777_216], 'the body of a request'),
  maxBulkBytes: number(
    '<bytes>',
    DEFAULT_BOUNDS.maxBulkBytes,
    [1_024, 67_108_864],
    'the body of a request that takes NDJSON',
  ),
  maxBulkLines: number(
    '<lines>',
    DEFAULT_BOUNDS.maxBulkLines,
    [1, 1_000_000],
    'the lines of a request that takes NDJSON',
  ),
  maxFilterCharacters: number('<characters>', DEFAULT_BOUNDS.maxFilterCharacters, [1, 1_000], 'the text of a filter'),
  requestTimeoutSeconds: number('<seconds>', 30, [1, 3_600], 'how long a request may take to arrive'),
  keepAliveSeconds: number('<seconds>', 65, [1, 3_600], 'how long an idle connection stays open'),
  maxConnections: number(
    '<connections>',
    10_000,
    [1, 1_000_000],
    'maximum concurrent connections; further ones are closed',
  ),
  cacheMegabytes: number('<MB>', 64, [0, 65_536], 'size of the response cache'),
  logLevel: {
    value: '<level>',
    description: 'what is logged: debug, info, warn, error or silent',
    default: 'info',
    parse: oneOf(['debug', 'info', 'warn', 'error', 'silent']),
  },
} satisfies CommandOptions

export const SERVE_OPTIONS = {
  database,
  host: {
    value: '<address>',
    description: 'the address to listen on; 0.0.0.0 for every interface',
    default: '127.0.0.1',
  },
  port: number('<number>', 8080, [0, 65_535], 'the port to listen on'),
  metricsPort: number('<number>', 9464, [0, 65_535], 'the loopback port of /metrics for Prometheus; 0 turns it off'),
  ...HTTP_OPTIONS,
  workers: number('<number>', 1, [1, 256], 'worker processes that share the port'),
  replica: {
    value: '<url>',
    description: 'a streaming replica of a PostgreSQL --database to read from; repeatable, or comma-separated',
    parse: replicaUrls,
  },
  limits: {
    value: '<url>',
    description: 'share the limits with other nodes through a Valkey or Redis server, redis://HOST',
    parse: redisUrl,
  },
  databaseConnections: number('<number>', 10, [1, 1_000], 'connections of each process to each PostgreSQL server'),
  databaseTimeoutSeconds: number(
    '<seconds>',
    5,
    [1, 3_600],
    'total time that a request may wait for PostgreSQL, before a 503',
  ),
} satisfies CommandOptions

export type ServeOptions = OptionsOf<typeof SERVE_OPTIONS>
