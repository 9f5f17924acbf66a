import type { Principal } from '../contract.js'
import type { ErrorCode } from '../errors.js'
import type { Budget } from '../limits/limits.js'
import type { Versions } from '../store/store.js'
import type { LogBudget } from './log-budget.js'

declare module 'fastify' {
  /** What the phases of a request leave for those that follow. */
  interface FastifyRequest {
    principal: Principal | undefined
    /** Why no credential is valid; undefined if one is. */
    credentialFault: ErrorCode | undefined
    /** What the charged account or address has left; undefined if none was charged. */
    budget: Budget | undefined
    /** The charge of the address before its credentials were looked up. */
    paidAhead: Budget | undefined
    versions: Versions
    /** The code of the problem that answered it. */
    problem: ErrorCode | undefined
  }

  interface FastifyInstance {
    /** Bounds how often each kind of internal error is logged. */
    faultLines: LogBudget
  }

  interface FastifyContextConfig {
    /** Never shed, never counted, never logged: what watches the server. */
    isProbe?: boolean
  }
}
