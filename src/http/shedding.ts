import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import { Problem } from '../errors.js'

const RESOLUTION_MILLISECONDS = 10
/** Minimum number of turns for a median. A single long turn, as at startup, must not cause shedding. */
const MIN_TURNS = 3
const RETRY_SECONDS = 2

const LIMITS = {
  /** The median delay of a turn of the event loop above which new requests are shed. */
  maxDelayMilliseconds: 1_000,
  checkMilliseconds: 1_000,
}

/** Answers 503 `overloaded` while most turns of the event loop are too long, probes excepted. Only tests set other limits. */
export function shedLoad(app: FastifyInstance, { maxDelayMilliseconds, checkMilliseconds } = LIMITS): void {
  const turns = monitorEventLoopDelay({ resolution: RESOLUTION_MILLISECONDS })
  let isLagging = false
  const check = () => {
    if (turns.count < MIN_TURNS) return
    isLagging = turns.percentile(50) / 1e6 - RESOLUTION_MILLISECONDS > maxDelayMilliseconds
    turns.reset()
  }
  turns.enable()
  const timer = setInterval(check, checkMilliseconds).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
    turns.disable()
  })
  app.addHook('onRequest', (request, _reply, done) => {
    const isShed = isLagging && !request.routeOptions.config.isProbe
    done(isShed ? new Problem('overloaded', { retryAfterSeconds: RETRY_SECONDS }) : undefined)
  })
}
