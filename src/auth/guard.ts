import type { Principal } from '../contract.js'
import type { ErrorCode } from '../errors.js'
import { DAY_SECONDS, nowSeconds } from '../instant.js'
import type { Scope } from '../model/scopes.js'
import type { Follower, News, Subscriber } from '../store/changes.js'
import type { Store } from '../store/store.js'
import { type CredentialRow, findCredentials, MAX_CREDENTIALS } from './credentials-queries.js'
import { digest, isApiKey, isSameDigest, isSessionToken } from './tokens.js'
import { Uses } from './uses.js'

/** A credential as a client presents it. */
export interface Presented {
  kind: 'session' | 'cle'
  secret: string
}

/** Whether the store may be asked for more than one credential. */
export type MayAskMore = () => boolean | Promise<boolean>

/** The principal of a request, or why it has none. */
export type Identity = Principal | ErrorCode

const SESSION_IDLE_SECONDS = 7 * DAY_SECONDS
export const SESSION_MAX_SECONDS = 30 * DAY_SECONDS

/** The last use is recorded to the hour, so that reads almost never write. */
const USE_STEP_SECONDS = 3600
const MAX_CACHED_CREDENTIALS = 10_000

/** If several credentials were sent, the fault that comes first here is reported. */
const FAULTS: readonly ErrorCode[] = [
  'credential_revoked',
  'credential_expired',
  'credential_invalid',
  'credential_missing',
]

interface CachedRow {
  principal: Principal
  row: CredentialRow
}

/** What is known of a request's credentials without the store. */
interface Sorted {
  /** The first one that is cached and valid. */
  valid: CachedRow | undefined
  /** Well-formed ones before it that are not cached, or may have been renewed since; at most `MAX_CREDENTIALS`. */
  unknown: Unknown[]
  /** Why the others are not valid. */
  fault: ErrorCode
}

interface Unknown {
  kind: Presented['kind']
  empreinte: string
}

/**
 * Turns a credential into a principal, and caches what it read from the store. When the version of the accounts moves, it first
 * drops the credentials that ended; all others stay cached.
 */
export class Guard implements Subscriber<string> {
  private readonly cached = new Map<string, CachedRow>()
  private readonly uses: Uses
  private readonly changes: Follower<string>
  private readonly unsubscribe: () => void

  constructor(
    private readonly store: Store,
    private readonly now: () => number = nowSeconds,
  ) {
    this.uses = new Uses(store)
    this.changes = store.changes.comptes
    this.unsubscribe = this.changes.subscribe(this)
  }

  get isInterested(): boolean {
    return this.cached.size > 0
  }

  hear({ lines: ended }: News<string>): void {
    if (!ended) this.cached.clear()
    for (const empreinte of ended ?? []) this.cached.delete(empreinte)
  }

  /**
   * The principal of the first valid credential, or the reason why none is valid; synchronous unless the store is needed. The
   * store is asked once, for at most four credentials, and for more than one only if `mayAskMore` allows it.
   */
  identify(presented: readonly Presented[], version: number, mayAskMore: MayAskMore): Identity | Promise<Identity> {
    const reached = this.changes.reach(version)
    return reached ? reached.then(() => this.find(presented, mayAskMore)) : this.find(presented, mayAskMore)
  }

  private find(presented: readonly Presented[], mayAskMore: MayAskMore): Identity | Promise<Identity> {
    const [first] = presented
    if (!first) return 'credential_missing'
    const cached = this.findCached(first.kind, digest(first.secret))
    // Nearly every request has one credential, which is cached.
    if (cached && this.stateOf(cached) === 'valid') return this.use(cached)
    const sorted = this.sort(presented)
    if (sorted.unknown.length > 0) return this.search(sorted, mayAskMore)
    return sorted.valid ? this.use(sorted.valid) : sorted.fault
  }

  private sort(presented: readonly Presented[]): Sorted {
    const unknown: Unknown[] = []
    let fault: ErrorCode = 'credential_missing'
    for (const { kind, secret } of presented) {
      if (!(kind === 'session' ? isSessionToken(secret) : isApiKey(secret))) {
        fault = mostTelling(fault, 'credential_invalid')
        continue
      }
      const empreinte = digest(secret)
      const cached = this.findCached(kind, empreinte)
      const state = cached && this.stateOf(cached)
      if (state === 'valid') return { valid: cached, unknown, fault }
      // Another process may have recorded a later use of the session, which does not move the version.
      const mayBeValid = kind === 'session' && state === 'credential_expired'
      if (state && !mayBeValid) fault = mostTelling(fault, state)
      else if (unknown.length < MAX_CREDENTIALS && unknown.every((other) => other.empreinte !== empreinte)) {
        unknown.push({ kind, empreinte })
      }
    }
    return { valid: undefined, unknown, fault }
  }

  private async search(sorted: Sorted, mayAskMore: MayAskMore): Promise<Identity> {
    const { unknown } = sorted
    const wanted = unknown.length > 1 && !(await mayAskMore()) ? unknown.slice(0, 1) : unknown
    const found = await this.load(wanted)
    let { fault } = sorted
    for (const { kind, empreinte } of wanted) {
      const cached = found.find(({ row }) => row.kind === kind && isSameDigest(row.empreinte, empreinte))
      const state = cached ? this.stateOf(cached) : 'credential_invalid'
      if (cached && state === 'valid') return this.use(cached)
      if (state !== 'valid') fault = mostTelling(fault, state)
    }
    return sorted.valid ? this.use(sorted.valid) : fault
  }

  private findCached(kind: Presented['kind'], empreinte: string): CachedRow | undefined {
    const cached = this.cached.get(empreinte)
    return cached?.row.kind === kind ? cached : undefined
  }

  private async load(wanted: readonly Unknown[]): Promise<CachedRow[]> {
    return this.store.read(async (db, { comptes }) => {
      const rows = await findCredentials(
        db,
        wanted.map(({ empreinte }) => empreinte),
      )
      return rows.map((row) => {
        const cached = { row, principal: toPrincipal(row) }
        if (comptes === this.changes.version) this.cache(row.empreinte, cached)
        return cached
      })
    })
  }

  private cache(empreinte: string, cached: CachedRow): void {
    if (this.cached.size >= MAX_CACHED_CREDENTIALS) this.cached.delete(this.cached.keys().next().value as string)
    this.cached.set(empreinte, cached)
  }

  private stateOf({ row }: CachedRow): 'valid' | 'credential_expired' | 'credential_revoked' {
    if (row.revocation !== null || row.desactive) return 'credential_revoked'
    return this.now() < endOf(row) ? 'valid' : 'credential_expired'
  }

  /** Records the use of a credential, once an hour. */
  private use({ row, principal }: CachedRow): Principal {
    const at = this.now() - (this.now() % USE_STEP_SECONDS)
    if ((row.derniere_utilisation ?? 0) < at) {
      row.derniere_utilisation = at
      this.uses.note({ table: row.kind === 'session' ? 'sessions' : 'cles_api', empreinte: row.empreinte, at })
    }
    return principal
  }

  /** Writes the recorded uses. */
  close(): Promise<void> {
    this.unsubscribe()
    return this.uses.flush()
  }
}

/**
 * When a credential ends: a key at its expiration, a session after 7 days without use, after 30 days in all, and with its key.
 */
function endOf(row: CredentialRow): number {
  const endOfKey = row.expiration ?? Number.POSITIVE_INFINITY
  if (row.kind === 'cle') return endOfKey
  const lastUse = row.derniere_utilisation ?? row.creation
  return Math.min(endOfKey, row.creation + SESSION_MAX_SECONDS, lastUse + SESSION_IDLE_SECONDS)
}

/**
 * An operator's own session has every scope, another session `lecture`, a key those it was made with. A session that was made
 * from a key has the rights of that key.
 */
function toPrincipal(row: CredentialRow): Principal {
  const operateur = row.operateur === 1
  const own: Scope[] = operateur ? ['lecture', 'ecriture', 'export'] : ['lecture']
  const ofKey = row.portee?.split(' ')
  const portee = ofKey ? own.filter((scope) => ofKey.includes(scope)) : own
  const { id_compte, id_auteur, empreinte } = row
  return { kind: ofKey ? 'cle' : row.kind, id_compte, id_auteur, operateur, portee, empreinte }
}

function mostTelling(one: ErrorCode, other: ErrorCode): ErrorCode {
  return FAULTS.indexOf(other) < FAULTS.indexOf(one) ? other : one
}
