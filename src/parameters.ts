import Type, { type TSchema } from 'typebox'
import { countCodePoints, fold, lowerAscii } from './text.js'

export const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'An identifier.' })

/**
 * A parameter of the query or the path. `parse` takes the values as they came, decoded, and throws `ParameterError`;
 * it is not called for a parameter that was not sent, or sent empty where `emptyIsAbsent`.
 */
export interface Parameter<T> {
  schema: TSchema
  description: string
  parse(value: string, bounds: Bounds): T
  emptyIsAbsent: boolean
  /** Described as required; who reads it refuses its absence. */
  isRequired?: boolean
  /** Present for a list: `parse` is called for each item of the values, and more than this many are refused. */
  maxValues?: number
}

/** The bounds of parameters and bodies that an operator sets. */
export interface Bounds {
  /** The longest text that a filter takes, in code points before folding. */
  maxFilterCharacters: number
  /** A body of many lines. */
  maxBulkBytes: number
  maxBulkLines: number
}

export const DEFAULT_BOUNDS: Bounds = { maxFilterCharacters: 100, maxBulkBytes: 4_194_304, maxBulkLines: 10_000 }

/** Says what a parameter takes; the edge adds its name. */
export class ParameterError extends Error {}

export type Parameters = Record<string, Parameter<unknown>>

/** What a handler receives of a query: absent parameters are undefined, lists are arrays. */
export type QueryValues<P extends Parameters> = {
  [K in keyof P]: P[K] extends Parameter<infer T> ? (P[K] extends { maxValues: number } ? T[] : T) | undefined : never
}

/** What a handler receives of a path: every parameter is there. */
export type PathValues<P extends Parameters> = { [K in keyof P]: P[K] extends Parameter<infer T> ? T : never }

const parseInteger = (value: string) => parseDigits(value, 0, 'an integer')
const parseId = (value: string) => parseDigits(value, 1, 'an identifier: an integer')

/** The zero-based row that a page begins at. */
export function offset(resource: string): Parameter<number> {
  const description = `Zero-based row that the page of ${resource} starts at; past the end the list is empty.`
  const schema = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 })
  return { schema, description, parse: parseInteger, emptyIsAbsent: false }
}

export const DEFAULT_PAGE_ROWS = 100
const MAX_PAGE_ROWS = 500

/** Rows a page. */
export const pageSize: Parameter<number> = {
  schema: Type.Integer({ minimum: 1, maximum: MAX_PAGE_ROWS, default: DEFAULT_PAGE_ROWS }),
  description: 'Rows a page.',
  emptyIsAbsent: false,
  parse(value) {
    if (!/^[1-9][0-9]{0,2}$/.test(value) || Number(value) > MAX_PAGE_ROWS) {
      throw new ParameterError(`takes an integer from 1 to ${MAX_PAGE_ROWS}`)
    }
    return Number(value)
  },
}

/** A text that must be contained, case and accents aside; the value is already folded. */
export function contains(what: string): Parameter<string> {
  return filter(`Text that the ${what} contains, whatever its case and accents.`, fold)
}

/** A word that must be equal, ASCII case aside; the value is already lower case. */
export function equals(what: string): Parameter<string> {
  return filter(`The ${what}, ignoring ASCII case.`, lowerAscii)
}

function filter(description: string, normalize: (text: string) => string): Parameter<string> {
  return {
    schema: Type.String({ maxLength: DEFAULT_BOUNDS.maxFilterCharacters }),
    description,
    emptyIsAbsent: true,
    parse: (value, bounds) => normalize(plainText(value, bounds.maxFilterCharacters)),
  }
}

/** A text taken as it is, that must be there. */
export function text(description: string, maxCodePoints: number): Parameter<string> {
  return {
    schema: Type.String({ maxLength: maxCodePoints }),
    description,
    emptyIsAbsent: true,
    isRequired: true,
    parse: (value) => plainText(value, maxCodePoints),
  }
}

/** One of a few words. */
export function oneOf<const W extends string>(words: readonly W[], description: string): Parameter<W> {
  const list = `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
  return {
    schema: Type.Enum([...words], { title: list }),
    description,
    emptyIsAbsent: false,
    parse(value) {
      const word = words.find((each) => each === value)
      if (word === undefined) throw new ParameterError(`takes ${list}`)
      return word
    },
  }
}

/** A number that must be equal. */
export function integer(description: string): Parameter<number> {
  const schema = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
  return { schema, description, parse: parseInteger, emptyIsAbsent: true }
}

/** One identifier; empty is refused, as it cannot mean anything. */
export function id(description: string): Parameter<number> {
  return { schema: Id, description, parse: parseId, emptyIsAbsent: false }
}

const MAX_ID_VALUES = 100

/** Identifiers. A record matches if it has one of them: `name=1,2`, `name[]=1&name[]=2` or `name[0]=1`. */
export function ids(description: string, maxValues = MAX_ID_VALUES): Parameter<number> & { maxValues: number } {
  return { schema: Id, description, parse: parseId, emptyIsAbsent: true, maxValues }
}

function parseDigits(value: string, min: number, what: string): number {
  const number = Number(value)
  if (!/^(0|[1-9][0-9]{0,15})$/.test(value) || number < min || !Number.isSafeInteger(number)) {
    throw new ParameterError(`takes ${what} from ${min} to ${Number.MAX_SAFE_INTEGER}, digits only`)
  }
  return number
}

function plainText(value: string, maxCodePoints: number): string {
  if (value.includes('\0') || !value.isWellFormed())
    throw new ParameterError('takes text without NUL or half a surrogate pair')
  if (countCodePoints(value) > maxCodePoints) throw new ParameterError(`takes at most ${maxCodePoints} characters`)
  return value
}
