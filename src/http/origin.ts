import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { compile } from '@fastify/proxy-addr'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalidParameter, Problem } from '../errors.js'
import { hostName, isHost } from './host.js'

/** Whether the X-Forwarded-* headers of a peer count. */
export type Trust = (address: string, hop: number) => boolean

export interface OriginOptions {
  /** The server's address as clients see it; undefined: what Host says. */
  publicUrl?: string
  /** Other origins whose pages may read. */
  corsOrigin?: readonly string[]
  /** Hosts with the dialect at their root, as `hostName` writes them. */
  rootmeHost?: readonly string[]
  /** Addresses and ranges of the proxies whose X-Forwarded-* is believed, comma-separated. */
  trustProxy?: string
}

/** Knows the addresses that this server answers as, and which pages may call it. */
export class Origins {
  private readonly publicUrl: string | undefined
  private readonly publicOrigin: string | undefined
  private readonly corsOrigins: readonly string[]
  private readonly rootHosts: ReadonlySet<string>
  readonly trust: Trust | undefined

  constructor({ publicUrl, corsOrigin = [], rootmeHost, trustProxy }: OriginOptions) {
    this.publicUrl = publicUrl?.replace(/\/+$/, '')
    this.publicOrigin = publicUrl && new URL(publicUrl).origin
    this.corsOrigins = corsOrigin
    this.rootHosts = new Set(rootmeHost)
    this.trust = trustProxy === undefined ? undefined : compile(trustProxy.split(',').map((item) => item.trim()))
  }

  /**
   * The base of the absolute addresses in an answer: the public address, but for a root host the host that was called.
   * Throws a 400 for a Host that names none.
   */
  baseUrl(request: FastifyRequest): string {
    if (this.publicUrl !== undefined && !this.isAtRoot(request.raw)) return this.publicUrl
    const scheme = this.isSecure(request) ? 'https' : 'http'
    const host = this.hostOf(request.raw)
    if (!host && request.raw.httpVersion === '1.0') return `${scheme}://localhost`
    if (!isHost(host)) throw invalidParameter('host', 'takes a name or an address, with or without a port')
    return `${scheme}://${host}`
  }

  /** Whether a request is for a host with another scope at its root. */
  isAtRoot(raw: IncomingMessage): boolean {
    return this.rootHosts.size > 0 && this.rootHosts.has(hostName(this.hostOf(raw)))
  }

  /** The host that was called: what a trusted proxy says, the nearest one first, else Host. */
  private hostOf({ headers, socket }: IncomingMessage): string {
    const forwarded = headers['x-forwarded-host']
    if (this.trust && forwarded !== undefined && this.trust(socket.remoteAddress ?? '', 0))
      return String(forwarded).split(',').at(-1)!.trim()
    return headers.host ?? ''
  }

  /** Whether cookies must be kept to TLS. */
  isSecure(request: FastifyRequest): boolean {
    // A proxy may send several schemes, or none that exists.
    return /^https$/i.test(request.protocol) || this.publicOrigin?.startsWith('https:') === true
  }

  /** Lets the pages of configured origins read answers. True where it answered the request itself: a preflight. */
  answerCors(request: FastifyRequest, reply: FastifyReply): boolean {
    if (this.corsOrigins.length === 0) return false
    const { origin } = request.headers
    reply.header('vary', 'Origin')
    if (origin === undefined || !this.corsOrigins.includes(origin)) return false
    reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', EXPOSED_HEADERS)
    if (request.method !== 'OPTIONS' || !request.headers['access-control-request-method']) return false
    reply
      .code(204)
      .header('access-control-allow-methods', 'GET, HEAD, POST, PATCH, DELETE')
      .header('access-control-allow-headers', 'Authorization, Content-Type, If-None-Match')
      .header('access-control-max-age', '600')
      .send()
    return true
  }

  /** Refuses a request that a page of another site made. A program sends none of these headers and passes. */
  refuseForeign(request: FastifyRequest): void {
    const { origin, 'sec-fetch-site': site } = request.headers
    const isGet = request.method === 'GET'
    if (isGet && request.headers['sec-fetch-mode'] === 'navigate') throw signInByLink()
    if (origin !== undefined && this.corsOrigins.includes(origin)) return
    if (isGet && site === 'same-site') throw signInByLink()
    if (origin !== undefined && !this.isOwn(origin, request)) throw new Problem('foreign_origin')
    if (site === 'cross-site') throw new Problem('foreign_origin')
  }

  /** Behind a proxy the scheme that we see may not be the page's, so only the host is compared without a public URL. */
  private isOwn(origin: string, request: FastifyRequest): boolean {
    if (this.publicOrigin !== undefined && !this.isAtRoot(request.raw)) return origin === this.publicOrigin
    const host = this.hostOf(request.raw)
      .toLowerCase()
      .replace(/:(80|443)$/, '')
    return /^https?:\/\/[^/@]+$/.test(origin) && URL.canParse(origin) && new URL(origin).host === host
  }
}

/**
 * A GET that acts is for programs. Any page, mail or bookmark can send a browser to an address, without an Origin; a
 * neighbour under the same registered domain can too.
 */
function signInByLink(): Problem {
  return new Problem('foreign_origin', { detail: 'Browsers cannot sign in with a link. Send a POST.' })
}

/** The client's address: the proxy's word where it is one, else the peer's. */
export function addressOf(request: FastifyRequest): string {
  return isIP(request.ip ?? '') === 0 ? (request.raw.socket.remoteAddress ?? '') : request.ip
}

const EXPOSED_HEADERS =
  'API-Version, ETag, Link, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Parametres-Ignores, X-Request-Id, X-Total-Count'
