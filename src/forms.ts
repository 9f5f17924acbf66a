/** The forms that the text of an option or a variable takes: each is read to its value, or refused with what it takes. */
import { isIP } from 'node:net'
import { InvalidArgumentError } from 'commander'
import { hostName, isHost } from './http/host.js'
import { checkDatabaseUrl } from './store/open.js'
import { isPostgres } from './store/postgres/address.js'

/** One line for the operator: what is wrong and what to do. The exit status is 2 where the command line or a variable is wrong. */
export class CommandError extends Error {
  constructor(
    message: string,
    readonly status: 1 | 2 = 1,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** Refuses a text that may contain a password: it says what the option takes, and never repeats the text as the command line would. */
export class SecretArgumentError extends CommandError {}

export function readFlag(text: string): boolean {
  if (/^(1|true|yes|on)$/i.test(text)) return true
  if (/^(0|false|no|off)$/i.test(text)) return false
  throw new InvalidArgumentError('It takes true or false.')
}

export function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d{1,15}$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`It takes an integer from ${min} to ${max}.`)
    }
    return value
  }
}

/** A number that may have a fraction. */
export function decimal(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d{1,9}(\.\d{1,9})?$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`It takes a number from ${min} to ${max}.`)
    }
    return value
  }
}

/** Identifiers, comma-separated. */
export function idList(maxIds: number): (text: string) => number[] {
  return (text) => {
    const ids = text.split(',').map((id) => id.trim())
    const isRight = ids.every((id) => /^[1-9]\d{0,15}$/.test(id) && Number.isSafeInteger(Number(id)))
    if (!isRight || ids.length > maxIds) {
      throw new InvalidArgumentError(`It takes at most ${maxIds} ids such as 12,34,56.`)
    }
    return [...new Set(ids.map(Number))]
  }
}

const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600 }

/** A time with its unit, in seconds. */
export function duration(minSeconds: number, maxSeconds: number): (text: string) => number {
  return (text) => {
    const [, number, unit = ''] = /^(\d{1,9})([smh])$/.exec(text) ?? []
    const seconds = Number(number) * (UNIT_SECONDS[unit] ?? Number.NaN)
    if (!(seconds >= minSeconds && seconds <= maxSeconds)) {
      throw new InvalidArgumentError(`It takes a time from ${minSeconds}s to ${maxSeconds}s, such as 45s, 10m or 2h.`)
    }
    return seconds
  }
}

/** The address of a store. */
export function databaseUrl(text: string): string {
  const fault = checkDatabaseUrl(text)
  if (fault) throw new SecretArgumentError(fault, isPostgres(text) ? 1 : 2)
  return text
}

/** Addresses of PostgreSQL servers, comma-separated, after those that were given before. */
export function replicaUrls(text: string, before: unknown): string[] {
  const urls = text.split(',').map((url) => databaseUrl(url.trim()))
  if (!urls.every(isPostgres)) throw new SecretArgumentError('takes postgres://USER:PASSWORD@HOST/DATABASE', 2)
  return Array.isArray(before) ? [...before, ...urls] : urls
}

export function oneOf<const W extends string>(words: readonly W[]): (text: string) => W {
  return (text) => {
    const word = words.find((each) => each === text)
    if (word === undefined) throw new InvalidArgumentError(`It takes one of ${words.join(', ')}.`)
    return word
  }
}

export function httpUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash
  if (!isPlain) throw new InvalidArgumentError('It takes an address such as https://api.example/, without a query.')
  return url.href
}

export function originList(text: string): string[] {
  const origins = text.split(',').map((origin) => origin.trim())
  for (const origin of origins) {
    if (!/^https?:\/\//.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new InvalidArgumentError('It takes origins such as https://tableau.example, without a path.')
    }
  }
  return origins
}

/** Names of hosts, comma-separated, after those that were given before; a port and a dot at the end do not matter. */
export function hostNames(text: string, before: unknown): string[] {
  const hosts = text.split(',').map((host) => host.trim())
  if (!hosts.every(isHost)) throw new InvalidArgumentError('It takes host names such as rootme.portail.example.')
  return [...(Array.isArray(before) ? before : []), ...hosts.map(hostName)]
}

/** The address of a Redis or Valkey server. */
export function redisUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url && /^rediss?:$/.test(url.protocol) && url.hostname && url.port !== '0' && !/[?#]/.test(text)
  if (!isPlain || !/^\/?\d{0,5}$/.test(url.pathname) || !isDecodable(url.username) || !isDecodable(url.password)) {
    throw new SecretArgumentError(
      'takes redis://HOST:PORT, redis://:PASSWORD@HOST or rediss://… for TLS; /NUMBER names a database',
      2,
    )
  }
  return url.href
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

const PROXY_RANGES = ['loopback', 'linklocal', 'uniquelocal']

export function proxyList(text: string): string {
  for (const item of text.split(',').map((item) => item.trim())) {
    if (!PROXY_RANGES.includes(item) && !isAddressOrRange(item)) {
      throw new InvalidArgumentError(
        `It takes ${PROXY_RANGES.join(', ')}, addresses and ranges such as 10.0.0.0/8, comma-separated.`,
      )
    }
  }
  return text
}

function isAddressOrRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const maxBits = isIP(address) === 6 ? 128 : 32
  const isRange = bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= maxBits)
  return isIP(address) > 0 && isRange && rest.length === 0
}
