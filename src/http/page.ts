import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Ready } from './cache.js'
import { etagOf, isMatch } from './serve.js'

/** The build puts a shell for each language there, that of the reference, and the folder `assets`. */
const folder = () => dirname(createRequire(import.meta.url).resolve('#web/fr.html'))
const YEAR_MILLISECONDS = 365 * 86_400_000

const LANGUAGES = { fr: /^fr(-|$)/i, en: /^en(-|$)/i }
type Language = keyof typeof LANGUAGES
/** Language ranges that are read of a header: requests for the page have no budget, so their work must be short. */
const MAX_RANGES = 20

/** Scripts, styles and connections of this origin alone; only what the sanitiser made becomes HTML. */
const PAGE_POLICY = [
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'",
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  "require-trusted-types-for 'script'; trusted-types dompurify",
].join('; ')

/** The reference styles its elements inline, and makes HTML of what the description says. */
const REFERENCE_POLICY = [
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'",
  "font-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
].join('; ')

/** The paths of the page and of its files. */
export function pagePaths(): string[] {
  return ['/', '/p', '/p/*', '/docs', ...assetNames().map((name) => `/assets/${name}`)]
}

/** The page and the API's reference. They contain no data of the portal, so they need no credential and have no budget. */
export function pageRoutes(app: FastifyInstance): void {
  const shells = { fr: readShell('fr.html'), en: readShell('en.html') }
  const reference = readShell('docs.html')
  const sendPage = (request: FastifyRequest, reply: FastifyReply) => {
    const shell = shells[languageOf(request.headers['accept-language'])]
    return send(request, reply.header('vary', 'accept-language'), shell, PAGE_POLICY)
  }
  for (const path of ['/', '/p', '/p/*']) app.get(path, sendPage)
  app.get('/docs', (request, reply) => send(request, reply, reference, REFERENCE_POLICY))
  app.register(fastifyStatic, {
    root: join(folder(), 'assets'),
    prefix: '/assets/',
    wildcard: false,
    index: false,
    globIgnore: ['**/*.{br,gz}'],
    preCompressed: true,
    // Scripts need no ranges, and a malformed one would be logged as an internal error.
    acceptRanges: false,
    immutable: true,
    maxAge: YEAR_MILLISECONDS,
  })
}

type Shell = Pick<Ready, 'body' | 'etag'>

function readShell(name: string): Shell {
  const body = readFileSync(join(folder(), name))
  return { body, etag: etagOf(body) }
}

function assetNames(): string[] {
  return readdirSync(join(folder(), 'assets')).filter((name) => !/\.(br|gz)$/.test(name))
}

function send(request: FastifyRequest, reply: FastifyReply, { body, etag }: Shell, policy: string): FastifyReply {
  reply
    .header('etag', etag)
    .header('cache-control', 'no-cache')
    .header('content-security-policy', policy)
    .header('cross-origin-opener-policy', 'same-origin')
    .header('referrer-policy', 'no-referrer')
  const condition = request.headers['if-none-match']
  if (condition !== undefined && isMatch(condition, etag)) return reply.code(304).send()
  return reply.header('content-type', 'text/html; charset=utf-8').send(body)
}

/** The first of our languages by preference, https://www.rfc-editor.org/rfc/rfc9110#section-12.5.4; English for all others. */
function languageOf(header = ''): Language {
  const ranges = header.split(',', MAX_RANGES).map((range) => {
    const [tag = '', weight] = range.split(';')
    const language = (Object.keys(LANGUAGES) as Language[]).find((name) => LANGUAGES[name].test(tag.trim()))
    const quality = Number(/^\s*q=([01](\.\d{0,3})?)\s*$/i.exec(weight ?? 'q=1')?.[1] ?? 0)
    return { language, quality }
  })
  const [best] = ranges.filter(({ language, quality }) => language && quality > 0).sort((a, b) => b.quality - a.quality)
  return best?.language ?? 'en'
}
