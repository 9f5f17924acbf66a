import { isUtf8 } from 'node:buffer'
import Type, { type Static, type TSchema } from 'typebox'
import { Check, Errors } from 'typebox/value'
import { BadAnswer, MirrorError } from './errors.js'
import type { Noun, Place } from './source.js'
import type { Answer } from './transport.js'

/** A body of a shape; other fields are allowed. Throws `BadAnswer` that names the path and the field. */
export function shaped<S extends TSchema>(schema: S, { path }: Place, body: unknown): Static<S> {
  if (Check(schema, body)) return body
  const [error] = Errors(schema, body)
  const field = error?.instancePath.slice(1).replaceAll('/', '.') || 'the body'
  throw new BadAnswer(`${path}: ${field} ${error?.message}`)
}

/** A field that may be unknown: null, an empty text, or missing. */
export const Maybe = <T extends TSchema>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null(), Type.Literal('')]))

/** A text; empty if it is unknown. */
export function textOf(text: string | null | undefined): string {
  return text ?? ''
}

/** Reads a value; null if it is unknown. */
export function known<T, R>(value: T | '' | null | undefined, read: (value: T) => R): R | null {
  return value === '' || value === null || value === undefined ? null : read(value)
}

/** An id that is sent as a number or as digits. */
export function idOf(text: string | number, field: string, { path }: Place): number {
  const id = Number(text)
  if (!/^[1-9]\d*$/.test(String(text)) || !Number.isSafeInteger(id)) throw new BadAnswer(`${path}: ${field} is no id`)
  return id
}

/** Throws `BadAnswer` if the answer is about another record than the requested one. */
export function throwIfAnother(asked: number, told: number, { path }: Place): void {
  if (asked !== told) throw new BadAnswer(`${path}: the response is about ${told}`)
}

/**
 * The body of a success as JSON. Throws `BadAnswer` for anything else, `MirrorError` for a refused key; neither repeats the
 * body.
 */
export function bodyOf(answer: Answer): unknown {
  const body = jsonIn(answer)
  if (answer.status !== 200) throw refusal(answer, body)
  if (body === undefined) throw new BadAnswer(`${answered(answer)}, which is not JSON`)
  return body
}

/** The JSON of an answer; undefined if it is not JSON. */
export function jsonIn({ body }: Answer): unknown {
  try {
    return isUtf8(body) ? JSON.parse(body.toString('utf8')) : undefined
  } catch {
    return undefined
  }
}

/** The tag for the next request; a long one is not kept. */
export function tagOf({ headers: { etag } }: Answer): string | null {
  return etag !== undefined && etag.length <= MAX_TAG_CHARACTERS ? etag : null
}

const MAX_TAG_CHARACTERS = 200

/** Describes an answer without anything of its body. */
function answered({ path, status, headers }: Answer): string {
  const type = (headers['content-type'] ?? '').replace(/[^\w/+.;= -]/g, '').slice(0, 100)
  return `${path}: it answered ${status} and ${type || 'no content type'}`
}

/** The error for an answer that is neither a body nor a 304; `code` is taken from the body if it is a plain word. */
export function refusal(answer: Answer, body: unknown): MirrorError {
  const code = codeOf(body)
  const told = `${answered(answer)}${code === undefined ? '' : ` (${code})`}`
  if ([401, 403].includes(answer.status)) return new MirrorError(`${told}: the portal refuses the key`)
  return new BadAnswer(told)
}

/** The code of a problem; undefined if it is not a plain word. */
export function codeOf(body: unknown): string | undefined {
  const code = typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined
  return typeof code === 'string' && /^[a-z][a-z_]{0,40}$/.test(code) ? code : undefined
}

/**
 * The row that a link to the next page names. A link must stay on the origin and the same list, and lead forward. Only its row
 * is used.
 */
export function rowOfLink(href: string, noun: Noun, debut: number, { base, path }: Place): number {
  const at = `${base}${path}`
  const url = URL.canParse(href, at) ? new URL(href, at) : undefined
  if (!url) throw new BadAnswer(`${path}: the link to the next page is no address`)
  const { origin } = new URL(base)
  if (url.origin !== origin) {
    throw new BadAnswer(
      `${path}: the next page is at ${url.origin}, and the key is only sent to ${origin}; a portal behind a proxy may need its public address set`,
    )
  }
  const plain = (pathname: string) => pathname.replace(/\/{2,}/g, '/').replace(/\/$/, '')
  if (plain(url.pathname) !== plain(`${new URL(base).pathname}/${noun}`)) {
    throw new BadAnswer(`${path}: the link to the next page is of another list`)
  }
  const text = url.searchParams.get(`debut_${noun}`) ?? ''
  const next = Number(text)
  if (!/^\d{1,15}$/.test(text) || next <= debut) {
    throw new BadAnswer(`${path}: the link to the next page leads in a circle, to row ${/^\d{1,15}$/.exec(text) ?? 0}`)
  }
  return next
}
