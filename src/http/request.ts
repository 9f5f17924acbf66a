import type { Principal } from '../contract.js'
import type { ErrorCode } from '../errors.js'
import type { Budget } from '../limits/limits.js'
import type { Versions } from '../store/store.js'
import type { LogBudget } from './log-budget.js'

declare module 'fastify' {
  /** What the phases of a request leave for those that follow. */
  interface FastifyRequest {
    principal: Principal | undefined
    /** Why no credential that was sent is valid; undefined where one is. */
    refusal: ErrorCode | undefined
    /** What is left to the one who paid for it; undefined where nobody did. */
    budget: Budget | undefined
    /** What the address paid before its credentials were looked up. */
    paidAhead: Budget | undefined
    versions: Versions
    /** The code of the problem that answered it. */
    problem: ErrorCode | undefined
  }

  interface FastifyInstance {
    /** Bounds how often each kind of fault of ours is logged. */
    faultLines: LogBudget
  }

  interface FastifyContextConfig {
    /** Never shed, never counted, never logged: what watches the server. */
    isProbe?: boolean
  }
}
