import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../errors.js'
import { addressKey } from '../limits/address.js'
import type { Budget, Limiter, Limits } from '../limits/limits.js'

export interface BudgetOptions {
  /** Requests a minute for an account; 0 turns the limits of accounts and addresses off. */
  rateLimit: number
  /** Requests a minute for an address without a valid credential. */
  addressRateLimit: number
}

/** Who a request is counted for. */
export type Payer = 'compte' | 'adresse'

const WINDOW_SECONDS = 60

/** What accounts and addresses may ask in a minute. Every request that costs something is charged here, and nowhere else. */
export class Budgets {
  readonly isLimited: boolean
  private readonly limiters: Record<Payer, Limiter>
  private readonly policies: Record<Payer, string>

  constructor({ rateLimit, addressRateLimit }: BudgetOptions, limits: Limits) {
    this.isLimited = rateLimit > 0
    this.limiters = {
      compte: limits.limiter('compte', rateLimit, WINDOW_SECONDS),
      adresse: limits.limiter('adresse', addressRateLimit, WINDOW_SECONDS),
    }
    this.policies = {
      compte: `"compte";q=${rateLimit};w=${WINDOW_SECONDS}`,
      adresse: `"adresse";q=${addressRateLimit};w=${WINDOW_SECONDS}`,
    }
  }

  /** Counts one request. `caller` is the id of an account, or an address. */
  take(payer: Payer, caller: string): Budget | Promise<Budget> {
    return this.limiters[payer].take(keyOf(payer, caller))
  }

  giveBack(payer: Payer, caller: string): void {
    this.limiters[payer].giveBack(keyOf(payer, caller))
  }

  /** Notes on a request and its answer who paid and what is left. Gives the 429 to answer where the budget is spent. */
  apply(payer: Payer, budget: Budget, request: FastifyRequest, reply: FastifyReply): Problem | undefined {
    request.budget = budget
    for (const [name, value] of this.headersOf(payer, budget)) reply.header(name, value)
    return refusalOf(payer, budget)
  }

  headersOf(payer: Payer, { remaining, resetSeconds }: Budget): [name: string, value: string][] {
    return [
      ['ratelimit-policy', this.policies[payer]],
      ['ratelimit', `"${payer}";r=${remaining};t=${resetSeconds}`],
    ]
  }
}

export function refusalOf(payer: Payer, { allowed, resetSeconds }: Budget): Problem | undefined {
  if (allowed) return undefined
  return new Problem(payer === 'compte' ? 'rate_limited' : 'address_limited', { retryAfterSeconds: resetSeconds })
}

function keyOf(payer: Payer, caller: string): string {
  return payer === 'compte' ? caller : addressKey(caller)
}
