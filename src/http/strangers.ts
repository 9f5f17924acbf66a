import { Problem } from '../errors.js'
import { addressKey } from '../limits/address.js'
import type { Budget, Limits } from '../limits/limits.js'
import { type AdmissionLimits, WINDOW_SECONDS } from './admission.js'

/** Charges an address for a request that is refused before admission. Gives the 429 to answer where its budget is spent. */
export type ChargeStranger = (address: string) => Problem | undefined | Promise<Problem | undefined>

/** Charges the same budget as admission does for an address without a valid credential. */
export function strangersCharge(settings: AdmissionLimits, limits: Limits): ChargeStranger {
  if (settings.requestsPerAccount === 0) return () => undefined
  const limiter = limits.limiter('adresse', settings.requestsPerAddress, WINDOW_SECONDS)
  return (address) => {
    const budget = limiter.take(addressKey(address))
    return budget instanceof Promise ? budget.then(toRefusal) : toRefusal(budget)
  }
}

function toRefusal({ allowed, resetSeconds }: Budget): Problem | undefined {
  return allowed ? undefined : new Problem('address_limited', { retryAfterSeconds: resetSeconds })
}
