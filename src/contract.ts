import Type, { type Static, type TSchema } from 'typebox'
import type { ErrorCode } from './errors.js'
import type { Db } from './store/store.js'
import { countCodePoints, fold, lowerAscii } from './text.js'

/** The JSON vocabulary that the nouns share. */
export const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'An identifier.' })
export const IdText = Type.String({
  pattern: '^[1-9][0-9]*$',
  description: 'An identifier, carried as a string of digits.',
})
export const Score = Type.Integer({ minimum: 0, description: 'Points.' })
export const Count = Type.Integer({ minimum: 0 })
export const Text = (description: string) => Type.String({ description })
export const Instant = Type.String({ format: 'date-time', pattern: 'Z$', description: 'UTC, whole seconds.' })
export const OrNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

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
  /** Present for a list: `parse` is called for each value, and more than this many are refused. */
  maxValues?: number
}

/** The bounds of parameters and bodies that an operator sets. */
export interface Bounds {
  /** The longest text that a filter takes, in code points before folding. */
  filterCodePoints: number
  /** A body of many lines. */
  bulkBytes: number
  bulkLines: number
}

export const DEFAULT_BOUNDS: Bounds = { filterCodePoints: 100, bulkBytes: 4_194_304, bulkLines: 10_000 }

/** Says what a parameter takes; the edge adds its name. */
export class ParameterError extends Error {}

export type Parameters = Record<string, Parameter<unknown>>

/** What a handler receives of a query: absent parameters are undefined, lists are arrays. */
export type QueryValues<P extends Parameters> = {
  [K in keyof P]: P[K] extends Parameter<infer T> ? (P[K] extends { maxValues: number } ? T[] : T) | undefined : never
}

/** What a handler receives of a path: every parameter is there. */
export type PathValues<P extends Parameters> = { [K in keyof P]: P[K] extends Parameter<infer T> ? T : never }

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
  return {
    schema: Type.String({ maxLength: DEFAULT_BOUNDS.filterCodePoints }),
    description: `Text that the ${what} contains, whatever its case and accents.`,
    emptyIsAbsent: true,
    parse: (value, bounds) => fold(plainText(value, bounds.filterCodePoints)),
  }
}

/** A word that must be equal, ASCII case aside; the value is already lower case. */
export function equals(what: string): Parameter<string> {
  return {
    schema: Type.String({ maxLength: DEFAULT_BOUNDS.filterCodePoints }),
    description: `The ${what}, whatever its ASCII case.`,
    emptyIsAbsent: true,
    parse: (value, bounds) => lowerAscii(plainText(value, bounds.filterCodePoints)),
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

/** Identifiers, any of which may match: `name[]=1&name[]=2`, `name[0]=1` or `name=1`. */
export function ids(description: string): Parameter<number> & { maxValues: number } {
  return { schema: Id, description, parse: parseId, emptyIsAbsent: true, maxValues: MAX_ID_VALUES }
}

function parseInteger(value: string): number {
  if (!/^(0|[1-9][0-9]{0,15})$/.test(value) || !Number.isSafeInteger(Number(value))) {
    throw new ParameterError(`takes an integer from 0 to ${Number.MAX_SAFE_INTEGER}, digits only`)
  }
  return Number(value)
}

function parseId(value: string): number {
  if (!/^[1-9][0-9]{0,15}$/.test(value) || !Number.isSafeInteger(Number(value))) {
    throw new ParameterError(`takes an identifier: an integer from 1 to ${Number.MAX_SAFE_INTEGER}, digits only`)
  }
  return Number(value)
}

function plainText(value: string, maxCodePoints: number): string {
  if (value.includes('\0') || !value.isWellFormed())
    throw new ParameterError('takes text without NUL or half a surrogate pair')
  if (countCodePoints(value) > maxCodePoints) throw new ParameterError(`takes at most ${maxCodePoints} characters`)
  return value
}

/**
 * One operation, as data: its route, its checks, its types and its description all come from here. A read is a GET
 * whose body the data alone decides; its answer is tagged, held and served again until the data changes.
 */
export interface Endpoint<
  Path extends Parameters = Parameters,
  Query extends Parameters = Parameters,
  Body extends TSchema = TSchema,
> {
  method: 'GET' | 'POST' | 'DELETE'
  /** The path, its parameters between braces: `/challenges/{id_challenge}`. */
  path: string
  summary: string
  description?: string
  tag: string
  pathParameters: Path
  query: Query
  /** The body of a success; absent where there is none. */
  response?: Body
  /** The status of a success. */
  status: 200 | 201 | 204
  /** The bodies that it takes, by Content-Type. */
  requestBody?: {
    schema: TSchema
    contentTypes: string[] /** Many lines, with a bound of their own. */
    isBulk?: boolean
  }
  /** Whether the answer is one page of a list, with its headers. */
  paged: boolean
  /** Whether a HEAD is answered as the GET. */
  head: boolean
  /** What the credential must be allowed. */
  scope?: Scope
  /** Whether a page of another origin is refused: by whatever changes something, and by every login. */
  refusesForeign: boolean
  /** What it can answer besides what every operation can. */
  errors: ErrorCode[]
}

type EndpointInit<P extends Parameters, Q extends Parameters, B extends TSchema> = Pick<
  Endpoint<P, Q, B>,
  'path' | 'summary' | 'tag'
> &
  Partial<Endpoint<P, Q, B>>

export function endpoint<
  B extends TSchema,
  P extends Parameters = Record<never, never>,
  Q extends Parameters = Record<never, never>,
>(init: EndpointInit<P, Q, B>): Endpoint<P, Q, B> {
  const refusesForeign = init.method !== undefined && init.method !== 'GET'
  const defaults = { method: 'GET', status: 200, paged: false, head: true, refusesForeign } as const
  return { ...defaults, errors: [], pathParameters: {} as P, query: {} as Q, ...init }
}

/** One page of a list as queries find it. */
export interface Page<Row> {
  rows: Row[]
  /** The row that the page begins at. */
  debut: number
  limite: number
  /** Undefined where counting would cost more than the page. */
  total: number | undefined
  /** How many rows there are, where that was found out though it is not told as the total. */
  end?: number
  /** Whether a row follows the page. */
  more: boolean
}

/** What a read answers: a body of its schema, the page that it shows where it is a list, and what it was made from. */
export type Answer<B extends TSchema> = { body: Static<B>; page?: Omit<Page<unknown>, 'rows'>; depends?: Depends }

/**
 * What an answer was made from, so that it is held until that changes. Without it, any change of the data lets it go.
 *
 * Names: `auteurs` and `challenges`, any of these records; `rubriques`, with their counts; `validations`, any of them;
 * `auteur/N`, the author and what they solved; `challenge/N`, who solved it. An import touches everything.
 */
export interface Depends {
  names: readonly string[]
  /** Authors whose names it shows. */
  noms?: readonly number[]
  /** Counted orders that it shows a part of: between these keys. */
  ranges?: readonly (readonly [arbre: string, de: number, a: number])[]
}

/** What a read may use besides its parameters. */
export interface ReadContext {
  db: Db
  /** Where a challenge's page is on the portal: an absolute address from the stored path. */
  challengeUrl(challenge: { id_challenge: number; url_challenge: string }): string
}

/** Registers one read. The edge gives it to the nouns, which know no HTTP. */
export type ServeRead = <P extends Parameters, Q extends Parameters, B extends TSchema>(
  endpoint: Endpoint<P, Q, B>,
  handler: (context: ReadContext, parameters: PathValues<P> & QueryValues<Q>) => Promise<Answer<B>>,
) => void

/** What an operation that changes something, or that is about the caller, receives. */
export interface ActionRequest<P> {
  parameters: P
  /** The body, parsed; undefined where none was sent. */
  body: unknown
  /** Undefined where the operation is open and no valid credential came. */
  principal: Principal | undefined
  /** The client's address, and whether it came by TLS. */
  address: string
  secure: boolean
}

/** A valid credential and the account that it stands for. */
export interface Principal {
  kind: 'session' | 'cle'
  id_compte: number
  id_auteur: number
  operateur: boolean
  portee: readonly Scope[]
  /** The SHA-256 of the credential. */
  empreinte: string
}

export const SCOPES = ['lecture', 'ecriture', 'export'] as const
export type Scope = (typeof SCOPES)[number]

export interface ActionAnswer {
  body?: unknown
  headers?: Record<string, string>
}

/** Registers one operation whose answer is never held. */
export type ServeAction = <P extends Parameters, Q extends Parameters, B extends TSchema>(
  endpoint: Endpoint<P, Q, B>,
  handler: (request: ActionRequest<PathValues<P> & QueryValues<Q>>) => Promise<ActionAnswer>,
) => void

/** Shapes a page of rows into the answer of a list. */
export function listAnswer<Row, Item>(
  page: Page<Row>,
  present: (row: Row) => Item,
  depends: Depends,
): { body: Item[]; page: Page<Row>; depends: Depends } {
  return { body: page.rows.map(present), page, depends }
}
