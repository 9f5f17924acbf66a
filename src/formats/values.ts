import { LAST_SECOND, parseInstant } from '../instant.js'
import { FieldError, MAX_CHALLENGE_SCORE, type Read, recordId } from '../model/readers.js'

/** An exact number: `digits` times ten to the power of `exponent`. */
export interface Decimal {
  digits: bigint
  exponent: number
}

/** An exact number from its text; undefined for what is no number, or one of more than 30 digits on a side. */
export function parseDecimal(text: string): Decimal | undefined {
  const match = DECIMAL.exec(text)
  if (!match) return undefined
  const [, sign, whole, fraction = '', power = '0'] = match
  return {
    digits: BigInt(`${whole}${fraction}`) * (sign === '-' ? -1n : 1n),
    exponent: Number(power) - fraction.length,
  }
}

const DECIMAL = /^([+-]?)(\d{1,30})(?:\.(\d{0,30}))?(?:[eE]([+-]?\d{1,2}))?$/

/** The id of a record: a number, or a text of digits. */
export const id: Read<number> = (value) =>
  recordId(typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value)

/** The id of another record, or null where there is none. */
export const idOrNull: Read<number | null> = (value) => (value === undefined || value === null ? null : id(value))

/** Points from a platform that has only whole points: a number, or a decimal text such as "500.0". */
export const wholePoints: Read<number> = (value) => toPoints(value, ONE, 0n, 'must be a whole number')

/**
 * Points that may have a fraction, multiplied by `scale`. A product within a millionth of an integer is that integer, as sums
 * of fractions seldom end exactly; without a scale, only integers are taken.
 */
export function points(scale: Decimal | undefined): Read<number> {
  if (!scale)
    return (value) => toPoints(value, ONE, 0n, 'has a fraction; --scale says by what to multiply, such as 100')
  return (value) => toPoints(value, scale, 1n, 'has a fraction still, multiplied by --scale')
}

const ONE: Decimal = { digits: 1n, exponent: 0 }

/** An integer from a number times a scale. `millionths` is the tolerance. */
function toPoints(value: unknown, scale: Decimal, millionths: bigint, fault: string): number {
  if (value === undefined || value === null) throw new FieldError('is missing')
  const found = typeof value === 'number' || typeof value === 'string' ? parseDecimal(String(value).trim()) : undefined
  if (!found) throw new FieldError('must be a number')
  const exponent = found.exponent + scale.exponent
  const unit = 10n ** BigInt(Math.max(0, -exponent))
  const product = found.digits * scale.digits * 10n ** BigInt(Math.max(0, exponent))
  const nearest = (product + (product < 0n ? -unit : unit) / 2n) / unit
  if (abs(product - nearest * unit) * 1_000_000n > unit * millionths) throw new FieldError(fault)
  if (abs(nearest) > BigInt(MAX_CHALLENGE_SCORE)) throw new FieldError(`must lie within ${MAX_CHALLENGE_SCORE} of 0`)
  return Number(nearest)
}

function abs(number: bigint): bigint {
  return number < 0n ? -number : number
}

/** A place as files publish it, a number or a text of digits; undefined for anything else. */
export function placeOrNone(value: unknown): number | undefined {
  const found = typeof value === 'string' && /^\s*\d{1,16}\s*$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(found) && (found as number) >= 1 ? (found as number) : undefined
}

/** True or false, as databases write them: booleans, 0 and 1, or their texts. Absent and null are false. */
export const truth: Read<boolean> = (value) => {
  if (value === undefined || value === null) return false
  const found = TRUTHS.get(typeof value === 'string' ? value.toLowerCase() : value)
  if (found === undefined) throw new FieldError('must be true or false, or 1 or 0')
  return found
}

const TRUTHS = new Map<unknown, boolean>([
  ...[true, 1, '1', 'true'].map((word) => [word, true] as const),
  ...[false, 0, '0', 'false'].map((word) => [word, false] as const),
])

/** Seconds since 1970 of a date and time, in UTC where it has no offset; null where it is unknown. */
export const naiveInstant: Read<number | null> = (value) => {
  if (value === undefined || value === null) return null
  const text = typeof value === 'string' ? value.trim() : ''
  const found = parseInstant(/(?:[Zz]|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`)
  if (found === undefined) throw new FieldError('must be a date and time such as 2026-01-31T12:00:00')
  return found
}

/** The later of two instants; one that is unknown does not count. */
export function later(a: number | null, b: number | null): number | null {
  return a === null || (b !== null && b > a) ? b : a
}

/** Whole seconds since 1970, a fraction cut off; null where they are unknown. */
export const unixSeconds: Read<number | null> = (value) => {
  if (value === undefined || value === null || value === '') return null
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^-?\d{1,15}(?:\.\d{0,30})?$/.test(value))
  const seconds = isNumber ? Math.floor(Number(value)) : Number.NaN
  if (!(seconds >= 0 && seconds <= LAST_SECOND)) throw new FieldError('must be seconds since 1970, such as 1769860800')
  return seconds
}
