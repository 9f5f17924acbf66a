import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { auteursRoutes } from './auteurs/routes.js'
import type { QueueBounds } from './auth/fair-queue.js'
import { Guard } from './auth/guard.js'
import { Login } from './auth/login.js'
import { compteRoutes, loginRoutes, sessionRoutes } from './auth/routes.js'
import type { LoginLimits } from './auth/throttle.js'
import { challengesRoutes } from './challenges/routes.js'
import { classementRoutes } from './classement/routes.js'
import type { Access, ReadContext } from './contract.js'
import { ctftimeRoutes } from './ctftime/routes.js'
import { environnementsVirtuelsRoutes } from './environnements_virtuels/routes.js'
import type { Trafic } from './exploitation/contract.js'
import { exploitationRoutes } from './exploitation/routes.js'
import { groupesRoutes } from './groupes/routes.js'
import { Admission, requireSession } from './http/admission.js'
import { type BudgetOptions, Budgets } from './http/budgets.js'
import { ResponseCache } from './http/cache.js'
import { healthRoutes } from './http/health.js'
import { WHOLE_LIMITS, type WholeLimits } from './http/large.js'
import { refuseOtherMethods, refuseUnknownPath } from './http/methods.js'
import type { Metrics } from './http/metrics.js'
import { describe, type Operation } from './http/openapi.js'
import { type OriginOptions, Origins } from './http/origin.js'
import { pageRoutes } from './http/page.js'
import { etagOf, type ServeDeps, sendReady, serveActions, serveReads } from './http/serve.js'
import { createHttpServer, type HttpOptions } from './http/server.js'
import { TurnVersions } from './http/turn.js'
import { serveWholes } from './http/whole.js'
import { toJsonBuffer } from './json.js'
import type { Limits } from './limits/limits.js'
import type { Bounds } from './parameters.js'
import { exportRoutes } from './portal/export/routes.js'
import { portalRoutes } from './portal/live/routes.js'
import { PREFIX, rewriteUrl } from './rootme/query.js'
import { rootmeRoutes } from './rootme/routes.js'
import { rubriquesRoutes } from './rubriques/routes.js'
import type { Store } from './store/store.js'
import { geleesRoutes } from './validations_gelees/routes.js'

/** What the server needs of the options of `serve`, under the same names, and of what follows from them. */
export interface AppOptions
  extends BudgetOptions,
    LoginLimits,
    QueueBounds,
    Omit<HttpOptions, 'log'>,
    OriginOptions,
    Bounds {
  /** The base address of the portal's pages. */
  portalUrl: string
  refuseGetLogin?: boolean
  /** Whether the feed for CTFtime asks for no credential. */
  openCtftime?: boolean
  /** Size of the response cache. */
  cacheMegabytes: number
  version: string
}

export interface AppDeps {
  store: Store
  options: AppOptions
  metrics: Metrics
  /** What this process and those beside it have counted. */
  observe(): Promise<Trafic>
  /** Closed with the server. */
  limits: Limits
  log: FastifyBaseLogger
  wholeLimits?: WholeLimits
}

/** The whole server: its scopes, and in each what it serves. */
export function buildApp({ store, options, metrics, observe, limits, log, wholeLimits }: AppDeps): FastifyInstance {
  metrics.watch(store)
  const origins = new Origins(options)
  const budgets = new Budgets(options, limits)
  const app = createHttpServer({ ...options, log }, { metrics, origins, budgets, rewriteUrl })
  const guard = new Guard(store)
  const admission = new Admission(guard, new TurnVersions(store, app.server), budgets)
  const challengeUrl = challengeUrls(options.portalUrl)
  const cache = new ResponseCache(store.changes.donnees, options.cacheMegabytes * 1_000_000)
  const deps: ServeDeps = { store, cache, origins, admission, metrics, challengeUrl, bounds: options }
  const wholeDeps = { ...deps, limits: wholeLimits ?? WHOLE_LIMITS }
  const auth = { store, login: new Login(store, options, limits), allowGetLogin: !options.refuseGetLogin }
  const operations: Operation[] = []
  const record = (access: Access) => (endpoint: Operation['endpoint'], isHeld: boolean) =>
    operations.push({ endpoint, access, isHeld })

  app.register(async (probes) => {
    healthRoutes(probes, store)
  })

  app.register(async (page) => {
    pageRoutes(page)
  })

  app.register(async (open) => {
    open.addHook('onRequest', admission.optional)
    loginRoutes(serveActions(open, deps, record('open')), auth)
    if (options.openCtftime) ctftimeRoutes(serveWholes(open, wholeDeps, record('open')))
    // No row is read for it, and it is the same until the server ends.
    open.get('/openapi.json', (request, reply) => sendReady(request, reply, document(), { admission, isCached: true }))
  })

  app.register(async (guarded) => {
    guarded.addHook('onRequest', admission.required)
    guarded.addHook('onRequest', refuseUnknownPath)
    guarded.setNotFoundHandler(() => undefined)

    const serve = serveReads(guarded, deps, record('credential'))
    challengesRoutes(serve)
    rubriquesRoutes(serve)
    auteursRoutes(serve)
    groupesRoutes(serve)
    classementRoutes(serve)
    environnementsVirtuelsRoutes(serve)
    portalRoutes(serveActions(guarded, deps, record('credential')), { store, bounds: options })
    const serveWhole = serveWholes(guarded, wholeDeps, record('credential'))
    exportRoutes(serveWhole)
    if (!options.openCtftime) ctftimeRoutes(serveWhole)

    compteRoutes(serveActions(guarded, deps, record('credential')), auth)

    guarded.register(async (signedIn) => {
      signedIn.addHook('onRequest', requireSession)
      const serveSession = serveActions(signedIn, deps, record('session'))
      sessionRoutes(serveSession, auth)
      exploitationRoutes(serveSession, { store, version: options.version, observe })
      geleesRoutes(serveSession, { store })
    })
  })

  app.register(async (rootme) => rootmeRoutes(rootme, { ...deps, challengeUrl: challengeUrls('') }, auth), {
    prefix: PREFIX,
  })

  app.addHook('onClose', () => guard.close())
  app.addHook('onClose', async () => cache.close())
  app.addHook('onClose', () => limits.close())
  app.register(async (others) => refuseOtherMethods(others, admission, operations))

  const document = once(() => {
    const body = toJsonBuffer(describe(operations, options.version, options.publicUrl))
    return { body, etag: etagOf(body) }
  })
  return app
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Joins the portal's base address, if any, with a challenge's stored path; an absolute stored address is kept. */
function challengeUrls(portalUrl: string): ReadContext['challengeUrl'] {
  const base = portalUrl === '' || portalUrl.endsWith('/') ? portalUrl : `${portalUrl}/`
  return ({ id_challenge, url_challenge }) => {
    if (/^https?:\/\//i.test(url_challenge)) return url_challenge
    return base + (url_challenge.replace(/^\/+/, '') || `challenges/${id_challenge}`)
  }
}
