import createClient, { type Client } from 'openapi-fetch'
import { PalmaresError, unexpected } from './errors.js'
import { type Links, parseLinks } from './links.js'
import type { paths } from './schema.js'
import { type PalmaresOptions, readSettings } from './settings.js'
import { type SendOptions, Transport, whatOf } from './transport.js'
import type {
  Arguments,
  Body,
  DeleteOptions,
  DeletePath,
  ListPath,
  PostOptions,
  PostPath,
  ReadOptions,
  ReadPath,
  RequestOptions,
  Row,
} from './types.js'

/** One page of a list. */
export interface Page<R> extends Links {
  rows: R[]
  /** Number of rows in the whole list; undefined if the server does not count them. */
  total: number | undefined
  /** The URL of this page. `Links` has those of the neighbouring pages, if they exist. */
  address: string
  /** Changes only when the page changes. */
  etag: string | undefined
}

/** The URL of a page from `Links`, in place of a query. */
export interface AddressOptions extends RequestOptions {
  address: string
  path?: never
  query?: never
}

/** A client for one server. The README describes errors and retries. */
export class Palmares {
  /** The underlying `openapi-fetch` client. It returns `{ data, error, response }` and does not throw on error responses. */
  readonly raw: Client<paths>
  readonly #transport: Transport
  readonly #base: URL

  constructor(options: PalmaresOptions = {}) {
    const settings = readSettings(options)
    const transport = new Transport(settings)
    this.#transport = transport
    this.#base = settings.base
    this.raw = createClient<paths>({
      baseUrl: settings.base.href,
      // One list of ids, `id_auteur[]=1,2`: with a name for each, 500 ids make a URL that is too long.
      querySerializer: { array: { style: 'form', explode: false } },
      fetch: (request) => transport.send(request, { signal: request.signal }),
    })
  }

  /** Reads a body. */
  async get<P extends ReadPath>(path: P, ...[options]: Arguments<ReadOptions<P>>): Promise<Body<P>> {
    return (await this.#send('get', path, options)).body as Body<P>
  }

  /** Sends a body. Only validations are retried, because they are idempotent. */
  async post<P extends PostPath>(path: P, options: PostOptions<P>): Promise<Body<P, 'post'>> {
    const { body, ...rest } = options
    const sent = path === '/validations' && Array.isArray(body) ? toLines(body) : { body }
    const isRepeatable = path === '/validations' && [body].flat().every(isPlainValidation)
    return (await this.#send('post', path, { ...rest, ...sent, isRepeatable })).body as Body<P, 'post'>
  }

  /** Deletes a resource. Not retried, because a second request would get another response. */
  async delete<P extends DeletePath>(path: P, ...[options]: Arguments<DeleteOptions<P>>): Promise<Body<P, 'delete'>> {
    return (await this.#send('delete', path, options)).body as Body<P, 'delete'>
  }

  /** Reads one page of a list, by its query or by a URL from `Links`. */
  async page<P extends ListPath>(
    path: P,
    ...[options]: Arguments<ReadOptions<P>> | [options: AddressOptions]
  ): Promise<Page<Row<P>>> {
    const isAddress = options !== undefined && 'address' in options
    const { body, headers, address } = isAddress ? await this.#follow(options) : await this.#send('get', path, options)
    if (typeof body !== 'object' || body === null) throw unexpected(`GET ${path}`, 200, headers, 'is not a list')
    const total = headers.get('x-total-count')
    return {
      rows: Object.values(body as Record<string, Row<P>>),
      total: total === null ? undefined : Number(total),
      etag: headers.get('etag') ?? undefined,
      address,
      ...parseLinks(headers.get('link'), address),
    }
  }

  /** Iterates over a whole list. Requests each page when its first row is needed. */
  async *iterate<P extends ListPath>(
    path: P,
    ...args: Arguments<ReadOptions<P>> | [options: AddressOptions]
  ): AsyncGenerator<Row<P>, void, undefined> {
    const signal = args[0]?.signal
    let page = await this.page(path, ...args)
    for (;;) {
      yield* page.rows
      const { address, next } = page
      // A page without rows is past the end, even if it has a `next` link.
      if (next === undefined || page.rows.length === 0) return
      this.#checkNext(next, address)
      page = await this.page(path, { address: next, signal })
    }
  }

  /** Checks that the next page has the same path and a later first row. */
  #checkNext(next: string, address: string): void {
    const { origin, username, password, pathname } = new URL(next)
    if (username !== '' || password !== '') throw linkError('has a user in its URL.')
    if (origin !== this.#base.origin) {
      throw linkError(
        `is at ${origin}; this client only sends requests to ${this.#base.origin}. Does the server need --public-url?`,
      )
    }
    if (pathname !== new URL(address).pathname) throw linkError('belongs to another list.')
    if (rowOf(next) <= rowOf(address)) throw linkError('does not come after this one: the links form a loop.')
  }

  async #send(method: string, path: string, options: Sending = {}): Promise<Received> {
    const { path: values, query, signal, isRepeatable, ...init } = options
    let address = ''
    const fetch = (request: Request) => {
      address = request.url
      return this.#transport.succeed(request, { signal, isRepeatable })
    }
    // The public methods check paths and options by type; below, paths are plain strings.
    const params = { path: values, query }
    const untyped = this.raw.request as unknown as UntypedRequest
    const { response } = await untyped(method, path, { ...init, params, fetch, parseAs: 'stream' })
    return read(whatOf({ method: method.toUpperCase(), url: address }), address, response)
  }

  async #follow({ address, signal }: AddressOptions): Promise<Received> {
    const request = new Request(new URL(address, this.#base))
    return read(whatOf(request), request.url, await this.#transport.succeed(request, { signal }))
  }
}

interface Sending extends SendOptions {
  path?: unknown
  query?: unknown
  body?: unknown
  headers?: Record<string, string>
  bodySerializer?: (body: string) => string
}

interface Received {
  body: unknown
  headers: Headers
  address: string
}

type UntypedRequest = (method: string, path: string, init: object) => Promise<{ response: Response }>

async function read(what: string, address: string, response: Response): Promise<Received> {
  const { status, headers } = response
  if (status === 204) return { body: undefined, headers, address }
  const text = await response.text()
  try {
    return { body: JSON.parse(text), headers, address }
  } catch {
    throw unexpected(what, status, headers, 'is not JSON')
  }
}

function toLines(records: readonly unknown[]) {
  return {
    body: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    headers: { 'content-type': 'application/x-ndjson' },
    bodySerializer: (lines: string) => lines,
  }
}

/** Whether the body is idempotent. Adding a solve is; removing a record or setting an author's score is not. */
function isPlainValidation(record: unknown): boolean {
  const { type, supprime } = record as Record<string, unknown>
  return type === 'validation' && supprime !== true
}

/** The first row of a page, from its URL. */
function rowOf(address: string): number {
  return Number(/[?&]debut_\w+=(\d+)/.exec(address)?.[1] ?? 0)
}

function linkError(why: string): PalmaresError {
  const detail = `The next page ${why}`
  return new PalmaresError({ status: 200, code: 'unexpected_answer', title: 'Unexpected answer', detail })
}
