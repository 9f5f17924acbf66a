import { readFileSync, statSync } from 'node:fs'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { InvalidArgumentError, Option } from 'commander'
import type { AppOptions } from './app.js'
import { CommandError, readFlag, SecretArgumentError } from './forms.js'
import { hostName } from './http/host.js'
import type { Log } from './log.js'
import type { CommandOption, ServeOptions } from './options.js'
import type { Serving } from './store/opening.js'
import { isPostgres } from './store/postgres/address.js'

/** The version of the package. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version

/** An option as the parser of the command line takes it. The environment may also set it; the flag wins. */
export function toOption(name: string, described: CommandOption): Option {
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  const variable = described.variable ?? `PALMARES_${flag.slice(2).replaceAll('-', '_').toUpperCase()}`
  const option = new Option(described.value ? `${flag} ${described.value}` : flag)
  const fromEnvironment = process.env[variable]
  option.description = `${described.description} (env: ${variable})`
  if (described.parse) option.argParser(named(flag, described.parse, option))
  if (fromEnvironment !== undefined && fromEnvironment !== '') {
    const parse = described.value ? described.parse : readFlag
    option.default(readVariable(variable, fromEnvironment, parse && named(variable, parse, option)), `from ${variable}`)
  } else if (described.default !== undefined) option.default(described.default)
  return option
}

type Parse = NonNullable<CommandOption['parse']>

/** A parser whose errors start with a name. A list from the flag replaces that of the environment. */
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

/** The one frozen value from which the server is built: the options, and what follows from them. */
export type ServerOptions = Readonly<ServeOptions & Pick<AppOptions, 'tls' | 'version'>>

/** Throws a line for the operator where options contradict each other or a file cannot be used. */
export function toServerOptions(options: ServeOptions): ServerOptions {
  checkRootmeHosts(options)
  return Object.freeze({ ...options, tls: readTls(options), version: VERSION })
}

/** At the public address is the contract: a host of the dialect would take its place. */
function checkRootmeHosts({ publicUrl, rootmeHost = [] }: ServeOptions): void {
  const name = publicUrl && hostName(new URL(publicUrl).host)
  if (name && rootmeHost.includes(name)) {
    throw new CommandError(`--rootme-host ${name} is the host of --public-url; it must be another name`, 2)
  }
}

/** What the store needs to know to serve. */
export function toServing(options: ServeOptions, log: Log): Serving {
  if (options.replica && !isPostgres(options.database)) {
    throw new CommandError('--replica requires a PostgreSQL --database', 2)
  }
  return {
    log,
    replicas: options.replica,
    connections: options.databaseConnections,
    timeoutSeconds: options.databaseTimeoutSeconds,
  }
}

const MIRROR_KEY = 'PALMARES_MIRROR_KEY'
const MAX_KEY_CHARACTERS = 1_000

/**
 * The key for another portal: from a file, else from the environment; never from the command line, which others on the machine
 * can read. `isExposed` says that others may read the file. Throws a line for the operator, without the key.
 */
export function readMirrorKey(keyFile: string | undefined): { key: string; isExposed: boolean } {
  if (keyFile === undefined)
    return { key: checkKey(process.env[MIRROR_KEY]?.trim() ?? '', MIRROR_KEY), isExposed: false }
  const key = checkKey(readNamed(keyFile).toString('latin1').trim(), keyFile)
  return { key, isExposed: (statSync(keyFile).mode & 0o004) !== 0 }
}

function checkKey(key: string, where: string): string {
  if (key === '') {
    const fault =
      where === MIRROR_KEY
        ? `a key for the portal must be in ${MIRROR_KEY}, or in the file that --key-file names`
        : `${where} is empty; it must contain a key for the portal`
    throw new CommandError(fault, 2)
  }
  if (key.length > MAX_KEY_CHARACTERS || !/^[\x21-\x7e]+$/.test(key) || /[;,"\\]/.test(key)) {
    throw new CommandError(`${where} must contain only an API key`, 2)
  }
  return key
}

function readTls({ tlsCert, tlsKey }: ServeOptions): AppOptions['tls'] {
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert === undefined || tlsKey === undefined) throw new CommandError('--tls-cert and --tls-key go together', 2)
  const cert = readNamed(tlsCert)
  const key = readNamed(tlsKey)
  checkTls({ cert }, `${tlsCert}: this is not a certificate chain in PEM that can be served`)
  checkTls({ key }, `${tlsKey}: this is not a private key in PEM without a passphrase`)
  checkTls({ cert, key }, `${tlsKey}: this is not the key of ${tlsCert}`)
  return { cert, key }
}

/** Reads a file. The error always names it; Node's does not for a folder. */
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
    throw new CommandError(reason === undefined ? fault : `${fault} (${reason})`, 1, { cause: error })
  }
}

function readVariable(variable: string, text: string, parse: CommandOption['parse']): unknown {
  try {
    return parse ? parse(text) : text
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    throw new CommandError(`${variable} is not valid. ${error.message}`, 2)
  }
}
