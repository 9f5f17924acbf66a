import type { FastifyInstance } from 'fastify'
import { Problem } from '../errors.js'
import type { Store } from '../store/store.js'

export const PROBES = ['/health/live', '/health/ready'] as const

/** Live: the process answers. Ready: the store does too. Open to all, never limited, never logged. */
export function healthRoutes(app: FastifyInstance, store: Store): void {
  const config = { isProbe: true }
  app.get(PROBES[0], { config }, async (_request, reply) => {
    return reply.header('cache-control', 'no-store').send({ status: 'live' })
  })
  app.get(PROBES[1], { config }, async (_request, reply) => {
    try {
      await store.read(async () => undefined)
    } catch (cause) {
      throw new Problem('store_unavailable', { cause })
    }
    return reply.header('cache-control', 'no-store').send({ status: 'ready' })
  })
}
