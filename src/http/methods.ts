import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '../errors.js'
import type { Admission } from './admission.js'
import { PROBES } from './health.js'
import type { Operation } from './openapi.js'
import { pagePaths } from './page.js'
import { toRoute } from './serve.js'

/**
 * Gives every path an answer to the methods that it does not take: 405 with Allow, after the same admission as the path
 * itself and before a body is read.
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

/** A path that does not exist is told so only to who may read the others. */
export async function refuseUnknownPath(request: FastifyRequest): Promise<void> {
  if (request.is404) throw new Problem('path_not_found')
}

/** Answers the methods that a path does not take, after `admit` and the hooks of the scope. */
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
