import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '../errors.js'
import type { Admission } from './admission.js'
import { PROBES } from './health.js'
import type { Operation } from './openapi.js'
import { pagePaths } from './page.js'
import { toRoute } from './serve.js'

/**
 * Makes every path answer 405 with Allow to the methods that it does not accept, after the path's own admission and before a
 * body is read.
 */
export function refuseOtherMethods(app: FastifyInstance, admission: Admission, operations: readonly Operation[]): void {
  for (const path of new Set(operations.map(({ endpoint }) => endpoint.path))) {
    const served = operations.filter(({ endpoint }) => endpoint.path === path)
    const isOpen = served.some(({ access }) => access === 'open')
    const methods = served.flatMap(({ endpoint: { method, head } }) =>
      method === 'GET' && head ? ['GET', 'HEAD'] : [method],
    )
    refuse(app, path, methods, isOpen ? admission.optional : admission.required)
  }
  refuse(app, '/openapi.json', ['GET', 'HEAD'], admission.optional)
  for (const path of [...PROBES, ...pagePaths()]) refuse(app, path, ['GET', 'HEAD'])
}

/** Answers 404 for unknown paths. Runs after admission, so that only clients with a valid credential can look for paths. */
export async function refuseUnknownPath(request: FastifyRequest): Promise<void> {
  if (request.is404) throw new Problem('path_not_found')
}

/** Answers 405 to all other methods, after `admit` and the hooks of the scope. */
export function refuse(app: FastifyInstance, path: string, methods: string[], admit?: Admission['required']): void {
  const allow = [...new Set(methods)].sort().join(', ')
  const refusal = async () => {
    throw new Problem('method_not_allowed', { allow })
  }
  app.route({
    method: app.supportedMethods.filter((method) => !methods.includes(method)),
    url: toRoute(path),
    onRequest: admit ? [admit, refusal] : refusal,
    handler: () => undefined,
  })
}
