import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Guard, Identity, Presented } from '../auth/guard.js'
import { Problem } from '../errors.js'
import type { Budget } from '../limits/limits.js'
import type { Versions } from '../store/store.js'
import type { Budgets, Payer } from './budgets.js'
import { addressOf } from './origin.js'
import type { TurnVersions } from './turn.js'

export const CONTRACT_COOKIES: Cookies = new Map([
  ['service_session', { kind: 'session' }],
  ['api_key', { kind: 'cle' }],
])

/** Decides who a request is, and counts it: the account where a credential is valid, else the address. */
export class Admission {
  constructor(
    private readonly guard: Guard,
    private readonly versions: TurnVersions,
    private readonly budgets: Budgets,
  ) {}

  readonly required = this.by(CONTRACT_COOKIES).required
  readonly optional = this.by(CONTRACT_COOKIES).optional

  /** Admits by some cookies and Bearer. Where a credential is optional, it only decides who is charged. */
  by(cookies: Cookies): Record<'required' | 'optional', Admit> {
    return {
      required: (request, reply, done) => this.admit(cookies, request, reply, (refusal) => done(refusal)),
      optional: (request, reply, done) =>
        this.admit(cookies, request, reply, (refusal) => done(refusal?.status === 401 ? undefined : refusal)),
    }
  }

  /** Reverses the charge of a request that cost nothing. */
  refund(request: FastifyRequest, reply: FastifyReply): void {
    const { principal, budget } = request
    if (!budget) return
    const payer = principal ? 'compte' : 'adresse'
    this.budgets.giveBack(payer, principal ? String(principal.id_compte) : addressOf(request))
    this.budgets.apply(payer, { ...budget, remaining: budget.remaining + 1 }, request, reply)
    request.budget = undefined
  }

  /** Most requests pass without a promise: their credential is cached, and they are counted in this process. */
  private admit(
    cookies: Cookies,
    request: FastifyRequest,
    reply: FastifyReply,
    decided: (refusal?: Problem) => void,
  ): void {
    const versions = this.versions.read(request.raw.socket)
    const found =
      versions instanceof Promise
        ? versions.then((read) => this.identify(cookies, request, read))
        : this.identify(cookies, request, versions)
    const refusal =
      found instanceof Promise
        ? found.then((who) => this.decide(request, reply, who))
        : this.decide(request, reply, found)
    if (refusal instanceof Promise) refusal.then(decided, decided)
    else decided(refusal)
  }

  private identify(cookies: Cookies, request: FastifyRequest, versions: Versions): Identity | Promise<Identity> {
    request.versions = versions
    return this.guard.identify(presentedBy(request, cookies), versions.comptes, () => this.payAhead(request))
  }

  /**
   * Charges the address before the store looks up several credentials. Returns whether its budget allows that. Charging first
   * bounds the lookups of concurrent requests; a request with a valid credential is refunded.
   */
  private async payAhead(request: FastifyRequest): Promise<boolean> {
    if (!this.budgets.isLimited) return true
    request.paidAhead = await this.budgets.take('adresse', addressOf(request))
    return request.paidAhead.allowed
  }

  private decide(request: FastifyRequest, reply: FastifyReply, who: Identity): Decision | Promise<Decision> {
    const { paidAhead } = request
    if (typeof who !== 'string') {
      if (paidAhead?.allowed) this.budgets.giveBack('adresse', addressOf(request))
      request.principal = who
      return this.charge(request, reply, 'compte', () => this.budgets.take('compte', String(who.id_compte)))
    }
    request.credentialFault = who
    const take = () => paidAhead ?? this.budgets.take('adresse', addressOf(request))
    const refusal = this.charge(request, reply, 'adresse', take)
    if (refusal instanceof Promise) return refusal.then((later) => later ?? new Problem(who))
    return refusal ?? new Problem(who)
  }

  private charge(
    request: FastifyRequest,
    reply: FastifyReply,
    payer: Payer,
    take: () => Budget | Promise<Budget>,
  ): Decision | Promise<Decision> {
    if (!this.budgets.isLimited) return undefined
    const budget = take()
    if (budget instanceof Promise) return budget.then((later) => this.budgets.apply(payer, later, request, reply))
    return this.budgets.apply(payer, budget, request, reply)
  }
}

type Admit = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void

/** The cookies that may contain a credential, its kind, and where the secret is if it is only a part of the value. */
export type Cookies = ReadonlyMap<string, { kind: Presented['kind']; secretIn?(value: string): string }>
/** Why a request goes no further; undefined if it goes on. */
type Decision = Problem | undefined

/** For operations on one's own session and keys. */
export async function requireSession(request: FastifyRequest): Promise<void> {
  if (request.principal?.kind !== 'session') throw new Problem('session_required')
}

/** The credentials of a request, sessions first, as an account's own session may do the most. */
function presentedBy(request: FastifyRequest, cookies: Cookies): Presented[] {
  const { cookie, authorization } = request.headers
  const presented: Presented[] = []
  if (cookie !== undefined) {
    for (const pair of cookie.split(';')) {
      const equals = pair.indexOf('=')
      const known = cookies.get(pair.slice(0, equals).trim())
      if (!known || equals <= 0) continue
      const value = unquote(pair.slice(equals + 1).trim())
      presented.push({ kind: known.kind, secret: known.secretIn?.(value) ?? value })
    }
    if (presented.length > 1) presented.sort((a, b) => Number(b.kind === 'session') - Number(a.kind === 'session'))
  }
  const bearer = authorization === undefined ? null : /^bearer +(\S+) *$/i.exec(authorization)
  if (bearer?.[1]) presented.push({ kind: 'cle', secret: bearer[1] })
  else if (authorization !== undefined) presented.push({ kind: 'cle', secret: '' })
  return presented
}

function unquote(value: string): string {
  return value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value
}
