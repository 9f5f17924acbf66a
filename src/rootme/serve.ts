import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isAny, type Page, type ReadContext } from '../contract.js'
import { Problem } from '../errors.js'
import { refuse } from '../http/methods.js'
import { etagOf, queryOf, type ServeDeps, sendRead } from '../http/serve.js'
import { toJsonBuffer } from '../json.js'
import type { Parameters, QueryValues } from '../parameters.js'
import type { Db } from '../store/store.js'
import { clamp, keyed, linksOf, PAGE_ROWS, refuseNone } from './envelope.js'
import { type Asked, readAsked, readId } from './query.js'

/** A list of the dialect: what it takes, and how a page of it is found and shown. */
export interface List<Filters extends Parameters, Row> {
  filters: Filters
  find(db: Db, filters: QueryValues<Filters>, debut: number, limite: number): Promise<Page<Row>>
  present(row: Row): object
}

/** One record: its body, or where `debutName` says so a payload with the page of a list inside it. */
export interface Detail {
  debutName?: string
  read(context: ReadContext, id: number, debut: number): Promise<Shown>
}

/** What an answer shows. `page` and the array are the envelope of all but an author. */
interface Shown {
  payload: object
  page?: Omit<Page<unknown>, 'rows'>
  isBare?: boolean
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** The path of a read below the prefix, and the parameters that it uses. */
interface Place {
  path: string
  /** "" where it has no pages. */
  debutName: string
  filters: Parameters
}

/** Registers the reads of the dialect. They are cached, tagged and limited like those of the contract. */
export function serveDialect(app: FastifyInstance, deps: ServeDeps) {
  return {
    list<Filters extends Parameters, Row>(collection: string, list: List<Filters, Row>): void {
      const { filters, find, present } = list
      const place = { path: `/${collection}`, debutName: `debut_${collection}`, filters }
      serve(place.path, (request, reply) =>
        answer(request, reply, place, async ({ db }, { values, debut }) => {
          const findFrom = (row: number) => find(db, values as QueryValues<Filters>, row, PAGE_ROWS)
          const { rows, ...page } = await clamp(findFrom, debut)
          refuseNone(rows)
          return { payload: keyed(rows.map(present)), page }
        }),
      )
    },

    detail(collection: string, { debutName = '', read }: Detail): void {
      const handler: Handler = (request, reply) => {
        const id = readId((request.params as { id: string }).id)
        if (id === undefined) throw new Problem('resource_not_found', { detail: 'This is no id of the portal.' })
        const place = { path: `/${collection}/${id}`, debutName, filters: {} }
        return answer(request, reply, place, (context, { debut }) => read(context, id, debut))
      }
      serve(`/${collection}/:id`, handler)
      // Anything after the id and a slash is ignored.
      serve(`/${collection}/:id/*`, handler)
    },
  }

  function serve(path: string, handler: Handler): void {
    app.get(path, handler)
    refuse(app, path, ['GET', 'HEAD'])
  }

  /** The cache key has only known parameters, so that clients which add a random number to each request still hit the cache. */
  function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    { path, debutName, filters }: Place,
    read: (context: ReadContext, asked: Asked) => Promise<Shown>,
  ): Promise<FastifyReply> {
    const { origins, challengeUrl, bounds } = deps
    const address = `${origins.baseUrl(request)}${origins.isAtRoot(request.raw) ? '' : app.prefix}${path}`
    const asked = readAsked(queryOf(request), filters, debutName, bounds)
    const make = async (db: Db) => {
      const { payload, page, isBare = false } = await read({ db, challengeUrl }, asked)
      const links = page ? linksOf(address, debutName, asked.kept, page) : []
      const body = toJsonBuffer(isBare ? payload : [payload, ...links])
      const total = page?.total === undefined ? {} : { total: String(page.total) }
      return { body, etag: etagOf(body), ...total }
    }
    const key = `${address} ${JSON.stringify([asked.kept, asked.debut])}`
    return sendRead(deps, request, reply, key, () => ({ make, isLong: isAny(...Object.values(asked.values)) }))
  }
}
