import Type, { type Static, type TSchema } from 'typebox'
import type { ErrorCode } from './errors.js'
import { formatInstant } from './instant.js'
import type { Scope } from './model/scopes.js'
import type { Parameters, PathValues, QueryValues } from './parameters.js'
import type { Db } from './store/store.js'

/** The JSON vocabulary that the nouns share. */
export const IdText = Type.String({
  pattern: '^[1-9][0-9]*$',
  description: 'An identifier, carried as a string of digits.',
})
export const Score = Type.Integer({ minimum: 0, description: 'Points.' })
export const Count = Type.Integer({ minimum: 0 })
export const Text = (description: string) => Type.String({ description })
export const Instant = Type.String({ format: 'date-time', pattern: 'Z$', description: 'UTC, whole seconds.' })
export const OrNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** An instant that may be unknown. */
export function presentInstant(seconds: number | null): string | null {
  return seconds === null ? null : formatInstant(seconds)
}

/**
 * One operation, as data: its route, its checks, its types and its description all come from here. A read is a GET whose body
 * depends on the data alone; its response is tagged, and cached until that data changes.
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
  tag: Tag
  pathParameters: Path
  query: Query
  /** The body of a success; absent where there is none. */
  response?: Body
  /** The bodies of a success that are no JSON, by Content-Type. */
  otherResponses?: { [contentType: string]: TSchema }
  /** The status of a success. */
  status: 200 | 201 | 204
  /** The bodies that it accepts, by Content-Type. */
  requestBody?: {
    schema: TSchema
    contentTypes: string[]
    /** A body of the first of them, as the samples of the description send it. */
    example: string
    /** Many lines, with their own size limit. */
    isBulk?: boolean
  }
  /** Whether the answer is one page of a list, with its headers. */
  paged: boolean
  /**
   * Whether a read with these parameters may take longer than a page or a detail, which cost the same on any portal. It then
   * runs outside the event loop, within the time limit of such reads; past that it answers `search_too_broad`.
   */
  isLong?(parameters: QueryValues<Query>): boolean
  /** For a response that is sent whole, however large: how many a process sends at once; more are `overloaded`. */
  maxAtOnce?: number
  /** Whether a HEAD is answered as the GET. */
  head: boolean
  /** What the credential must be allowed. */
  scope?: Scope
  /**
   * Whether a page of another origin is refused, as by every operation that changes something and by every login. A GET then
   * also refuses browser navigation.
   */
  refusesForeign: boolean
  /** Its errors besides those that every operation can answer. */
  errors: ErrorCode[]
}

/** What the documentation groups operations by. */
export interface Tag {
  name: string
  description: string
}

/** Who may call an operation: anybody, any valid credential, or only a session. */
export type Access = 'open' | 'credential' | 'session'

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
  /** How many rows there are, if that is known but not shown as the total. */
  end?: number
  /** Whether a row follows the page. */
  more: boolean
}

/** A page of counted rows. `debut` is the first of its rows, from 0. */
export function countedPage<Row>(rows: Row[], debut: number, limite: number, total: number): Page<Row> {
  return { rows, debut, limite, total, more: debut + limite < total }
}

/** What a read answers: a body of its schema, and the page that it shows where it is a list. */
export type Answer<B extends TSchema> = { body: Static<B>; page?: Omit<Page<unknown>, 'rows'> }

/** What a read may use besides its parameters. */
export interface ReadContext {
  db: Db
  /** Where a challenge's page is on the portal: an absolute address from the stored path. */
  challengeUrl(challenge: { id_challenge: number; url_challenge: string }): string
}

/** Whether any of these filters was given. */
export function isAny(...filters: unknown[]): boolean {
  return filters.some((filter) => filter !== undefined)
}

/** Registers one read. The edge gives it to the nouns, which know no HTTP. */
export type ServeRead = <P extends Parameters, Q extends Parameters, B extends TSchema>(
  endpoint: Endpoint<P, Q, B>,
  handler: (context: ReadContext, parameters: PathValues<P> & QueryValues<Q>) => Promise<Answer<B>>,
) => void

/** A response that is sent whole: its type and name, and its text in pieces that are made on demand. */
export interface WholeAnswer {
  contentType: string
  /** What a browser saves it as; without a name it shows it. */
  fileName?: string
  pieces(db: Db): AsyncIterable<string>
}

/** Registers one read whose response is not paged. All of it shows one version of the data. */
export type ServeWhole = <P extends Parameters, Q extends Parameters, B extends TSchema>(
  endpoint: Endpoint<P, Q, B>,
  plan: (parameters: QueryValues<Q>) => WholeAnswer,
) => void

/** What an operation that changes something, or that is about the caller, receives. */
export interface ActionRequest<P> {
  parameters: P
  /** The parsed body; undefined if none was sent. */
  body: unknown
  /** Undefined if the operation is open and no valid credential was sent. */
  principal: Principal | undefined
  /** The client's address, and whether it came by TLS. */
  address: string
  secure: boolean
}

/** A valid credential and the account that it stands for. */
export interface Principal {
  /** Whose rights it has: a session that was made from a key counts as the key. */
  kind: 'session' | 'cle'
  id_compte: number
  id_auteur: number
  operateur: boolean
  portee: readonly Scope[]
  /** The SHA-256 of the credential. */
  empreinte: string
}

export interface ActionAnswer {
  body?: unknown
  headers?: Record<string, string>
  /** The page that the body shows if the operation is a list. Its total is known. */
  page?: Omit<Page<unknown>, 'rows'>
}

/** Registers one operation whose response is never cached. */
export type ServeAction = <P extends Parameters, Q extends Parameters, B extends TSchema>(
  endpoint: Endpoint<P, Q, B>,
  handler: (request: ActionRequest<PathValues<P> & QueryValues<Q>>) => Promise<ActionAnswer>,
) => void

/** Shapes a page of rows into the answer of a list. */
export function listAnswer<Row, Item>(page: Page<Row>, present: (row: Row) => Item): { body: Item[]; page: Page<Row> } {
  return { body: page.rows.map(present), page }
}
