import { isUtf8 } from 'node:buffer'
import { decodeQuery, type ParsedQuery, parseQuery, type RawQuery } from '../http/query.js'
import type { Bounds, Parameter, Parameters } from '../parameters.js'

/** What a request of the dialect asks a list for. */
export interface Asked extends ParsedQuery {
  debut: number
}

/**
 * Reads filters and an offset as generously as the live portal does: of a name that is given twice the last value counts, an
 * unknown one is ignored, a number is its leading digits. Throws a 400 that names the filter which is too long, or should be a
 * number and is none.
 */
export function readAsked(text: string, filters: Parameters, debutName: string, bounds: Bounds): Asked {
  const query = decodeQuery(text, decodeAny)
  const debut = readDebut(query.get(debutName)?.at(-1))
  for (const [name, { maxValues }] of Object.entries(filters)) {
    if (maxValues === undefined) keepLast(query, name)
  }
  return { ...parseQuery(filters, query, bounds), debut }
}

function keepLast(query: RawQuery, name: string): void {
  const last = query.get(name)?.at(-1)
  if (last !== undefined) query.set(name, [last])
}

/** A row as PHP would read it: its leading digits, else the first; none is beyond what a number carries. */
function readDebut(text = ''): number {
  return Math.min(Number(LEADING_DIGITS.exec(text)?.[1] ?? 0), Number.MAX_SAFE_INTEGER)
}

/** The id that a part of a path begins with; undefined where it begins with none. */
export function readId(text: string): number | undefined {
  const id = Number(digitsOf(text))
  return Number.isSafeInteger(id) && id > 0 ? id : undefined
}

/** A number of which only the leading digits count; without any it is what the contract refuses. */
export function leading<P extends Parameter<unknown>>(parameter: P): P {
  return { ...parameter, parse: (value: string, bounds: Bounds) => parameter.parse(digitsOf(value), bounds) }
}

/** The leading digits of a text, without leading zeros; the text itself where there are none. */
function digitsOf(text: string): string {
  return LEADING_DIGITS.exec(text)?.[1] ?? text
}

const LEADING_DIGITS = /^\s*\+?0*(\d+)/

/** Decodes a form or a query: bytes that are not UTF-8 are Latin-1, a stray `%` is itself. */
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
 * Writes an address of the dialect as the router takes it, below the prefix. The router refuses paths whose percent-encoding
 * is broken or not UTF-8, knows no prefix behind two slashes and resolves no dot segments. Other addresses stay as they are.
 */
export function rewriteUrl(url: string, isAtRoot = false): string {
  const match = (isAtRoot ? AT_ROOT : BELOW_PREFIX).exec(url)
  if (!match) return url
  const path = decodeBytes(match[1] ?? '', (bytes) => encodeURIComponent(toText(bytes)))
  return `${PREFIX}${resolved(path.replace(/%(?![0-9a-f]{2})/gi, '%25'))}${url.slice(match[0].length)}`
}

/** A path without dot segments and empty ones: `..` takes the segment before it away, at the top there is none. */
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
