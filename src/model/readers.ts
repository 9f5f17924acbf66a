import { parseInstant } from '../instant.js'
import { countCodePoints } from '../text.js'
import { SCOPES } from './scopes.js'

/** Reads one field of a dump line: returns what the store keeps, or throws `FieldError` with what the field takes. */
export type Read<V> = (value: unknown) => V

/** The reason alone; the caller knows the line and the name. */
export class FieldError extends Error {}

/** The largest score of a challenge: thousands of them add up to a total that JSON carries exactly. */
export const MAX_CHALLENGE_SCORE = 1_000_000_000_000

export const recordId: Read<number> = integerBetween(1, Number.MAX_SAFE_INTEGER)
export const challengeScore: Read<number> = integerBetween(0, MAX_CHALLENGE_SCORE)
export const auteurScore: Read<number> = integerBetween(0, Number.MAX_SAFE_INTEGER)
export const seconds: Read<number> = integerBetween(0, Number.MAX_SAFE_INTEGER)
export const base: Read<number> = integerBetween(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)

/** A text that must be there. */
export function required(maxCodePoints: number): Read<string> {
  const read = text(maxCodePoints)
  return (value) => {
    if (value === undefined || value === null) throw new FieldError('is missing')
    const found = read(value)
    if (found === '') throw new FieldError('must not be empty')
    return found
  }
}

/** A text that may be unknown: absent, null or empty are the same. */
export function text(maxCodePoints: number): Read<string> {
  return (value) => {
    if (value === undefined || value === null) return ''
    if (typeof value !== 'string') throw new FieldError(`must be a text, not ${nameOf(value)}`)
    if (value.length > maxCodePoints && countCodePoints(value) > maxCodePoints) {
      throw new FieldError(`must have at most ${maxCodePoints} characters`)
    }
    if (value.includes('\0')) throw new FieldError('must not contain NUL')
    if (!value.isWellFormed()) throw new FieldError('must not contain half of a surrogate pair')
    return value
  }
}

/** Seconds since 1970 of a date and time with an offset or Z. */
export const instant: Read<number> = (value) => {
  const found = typeof value === 'string' ? parseInstant(value) : undefined
  if (found === undefined) throw new FieldError('must be a date and time such as 2026-01-31T12:00:00Z')
  return found
}

/** The ids of other records, each once, ascending. */
export const idList: Read<number[]> = (value) => {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new FieldError(`must be a list of ids, not ${nameOf(value)}`)
  if (value.length > MAX_LIST_IDS) throw new FieldError(`must have at most ${MAX_LIST_IDS} ids`)
  return [...new Set(value.map(recordId))].sort((a, b) => a - b)
}

const MAX_LIST_IDS = 10_000

/** Objects of one sort; each is read with its place in the list, for the message of a fault. */
export function listOf<I>(what: string, most: number, read: (item: unknown, place: string) => I): Read<I[]> {
  return (value) => {
    if (value === undefined || value === null) return []
    if (!Array.isArray(value) || value.length > most) throw new FieldError(`must be a list of at most ${most} ${what}`)
    return value.map((item: unknown, index) => read(item, `[${index}].`))
  }
}

/** A path under the portal's address, or an http(s) address. */
export const challengeUrl: Read<string> = (value) => {
  const found = text(2_000)(value)
  if (/[\x00-\x20\x7f\\]/.test(found))
    throw new FieldError('must not contain spaces, backslashes or control characters')
  if (found.startsWith('//')) throw new FieldError('must not begin with //')
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(found)?.[1]
  if (scheme !== undefined && !(/^https?$/i.test(scheme) && URL.canParse(found))) {
    throw new FieldError('must be a path, or an address that begins with http:// or https://')
  }
  return found
}

export const boolean: Read<number> = (value) => {
  if (value === undefined || value === null) return 0
  if (typeof value !== 'boolean') throw new FieldError(`must be true or false, not ${nameOf(value)}`)
  return value ? 1 : 0
}

/** The SHA-256 of a credential. */
export const sha256: Read<string> = matching((text) => /^[0-9a-f]{64}$/.test(text), 'a SHA-256 in lower-case hex')

/** A hash of a password, whose cost stays within what a login may take. */
export const passwordHash: Read<string> = matching(
  isAcceptableHash,
  'an argon2id hash of at most 256 MiB, 10 passes and 8 lanes',
)

function isAcceptableHash(text: string): boolean {
  const match =
    /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/.exec(text)
  if (!match) return false
  const [memory = 0, time = 0, lanes = 0] = match.slice(1).map(Number)
  return memory >= 8 * lanes && memory <= 262_144 && time >= 1 && time <= 10 && lanes >= 1 && lanes <= 8
}

function matching(is: (text: string) => boolean, what: string): Read<string> {
  return (value) => {
    if (typeof value !== 'string' || !is(value)) throw new FieldError(`must be ${what}`)
    return value
  }
}

/** Scopes, as the store keeps them. */
export const scopes: Read<string> = (value) => {
  if (!Array.isArray(value) || value.some((scope) => !SCOPES.includes(scope))) {
    throw new FieldError(`must be a list of ${SCOPES.join(', ')}`)
  }
  return SCOPES.filter((scope) => scope === 'lecture' || value.includes(scope)).join(' ')
}

function integerBetween(min: number, max: number): Read<number> {
  return (value) => {
    if (value === undefined || value === null) throw new FieldError('is missing')
    if (typeof value !== 'number') throw new FieldError(`must be a number, not ${nameOf(value)}`)
    if (!Number.isInteger(value) || value < min || value > max)
      throw new FieldError(`must be an integer from ${min} to ${max}`)
    return value
  }
}

function nameOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return 'a text'
  return value === null ? 'null' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
