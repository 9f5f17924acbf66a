import { isUtf8 } from 'node:buffer'
import { decodeQuery, type ParsedQuery, parseQuery } from '../http/query.js'
import type { Bounds, Parameter, Parameters } from '../parameters.js'

/** The parameters of a list in the dialect. */
export interface Asked extends ParsedQuery {
  debut: number
}

/**
 * Reads filters and an offset as tolerantly as the live portal: of a repeated name the last value counts, unknown names are
 * ignored, a number is its leading digits. Throws a 400 that names a filter which is too long, or should be a number and is
 * not.
 */
export function readAsked(text: string, filters: Parameters, debutName: string, bounds: Bounds): Asked {
  const query = decodeQuery(text, decodeAny)
  const debut = readDebut(query.get(debutName)?.at(-1))
  for (const [name, { maxValues }] of Object.entries(filters)) {
    const last = query.get(name)?.at(-1)
    if (maxValues === undefined && last !== undefined) query.set(name, [last])
  }
  return { ...parseQuery(filters, query, bounds), debut }
}

/** Reads a row as PHP would: its leading digits, or 0; at most the largest safe integer. */
function readDebut(text = ''): number {
  return Math.min(Number(LEADING_DIGITS.exec(text)?.[1] ?? 0), Number.MAX_SAFE_INTEGER)
}

/** The id that a part of a path starts with; undefined if it starts with none. */
export function readId(text: string): number | undefined {
  const id = Number(digitsOf(text))
  return Number.isSafeInteger(id) && id > 0 ? id : undefined
}

/** Reads only the leading digits; a value without any is refused, as in the contract. */
export function leading<P extends Parameter<unknown>>(parameter: P): P {
  return { ...parameter, parse: (value: string, bounds: Bounds) => parameter.parse(digitsOf(value), bounds) }
}

/** The leading digits of a text, without leading zeros; the text itself where there are none. */
function digitsOf(text: string): string {
  return LEADING_DIGITS.exec(text)?.[1] ?? text
}

const LEADING_DIGITS = /^\s*\+?0*(\d+)/

/** Decodes a form or a query. Bytes that are not UTF-8 are read as Latin-1, a stray `%` as itself. */
export function decodeAny(part: string): string {
  return decodeBytes(part.replace(/\+/g, ' '), toText)
}

/** Where the dialect is, but for hosts at whose root it is. */
export const PREFIX = '/rootme'

/** An address below the prefix, in any of the forms of a request line. */
const BELOW_PREFIX = /^(?:https?:\/\/[^/?#]*)?\/+rootme((?:\/[^?#]*)?)(?=[?#]|$)/
/** Any address of a host of the dialect's own; the probes of the server stay where they are. */
const AT_ROOT = /^(?:https?:\/\/[^/?#]*)?(?!\/+health\/)((?:\/[^?#]*)?)(?=[?#]|$)/

/**
 * Rewrites a URL of the dialect for the router, below the prefix. The router refuses paths whose percent-encoding is broken or
 * not UTF-8, does not find the prefix behind two slashes, and does not resolve dot segments. Other URLs stay as they are.
 */
export function rewriteUrl(url: string, isAtRoot = false): string {
  const match = (isAtRoot ? AT_ROOT : BELOW_PREFIX).exec(url)
  if (!match) return url
  const path = decodeBytes(match[1] ?? '', (bytes) => encodeURIComponent(toText(bytes)))
  return `${PREFIX}${resolved(path.replace(/%(?![0-9a-f]{2})/gi, '%25'))}${url.slice(match[0].length)}`
}

/** Removes dot segments and empty segments; `..` also removes the segment before it, if any. */
function resolved(path: string): string {
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return segments.map((segment) => `/${segment}`).join('')
}

/** Replaces each run of bytes, percent-encoded or as they are. */
function decodeBytes(text: string, replace: (bytes: Buffer) => string): string {
  return text.replace(/(?:%[0-9a-f]{2}|[\x80-\xff])+/gi, (run) =>
    replace(
      Buffer.from(
        run.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
        'latin1',
      ),
    ),
  )
}

function toText(bytes: Buffer): string {
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')
}
