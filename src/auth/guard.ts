import type { Principal, Scope } from '../contract.js'
import type { ErrorCode } from '../errors.js'
import { nowSeconds } from '../instant.js'
import { readEnded } from '../store/ended.js'
import type { Store } from '../store/store.js'
import { type CredentialRow, findCle, findSession } from './queries.js'
import { digest, isApiKey, isSameDigest, isSessionToken } from './tokens.js'
import { Uses } from './uses.js'

/** A credential as a client presents it. */
export interface Presented {
  kind: 'session' | 'cle'
  secret: string
}

const SESSION_IDLE_SECONDS = 7 * 24 * 3600
export const SESSION_MAX_SECONDS = 30 * 24 * 3600

/** Use is noted to the hour, so that a read all but never writes. */
const USE_STEP_SECONDS = 3600
const MAX_HELD_CREDENTIALS = 10_000

/** The most telling refusal first, where several credentials were sent. */
const REFUSALS: readonly ErrorCode[] = [
  'credential_revoked',
  'credential_expired',
  'credential_invalid',
  'credential_missing',
]

interface Held {
  /** As what it was presented. */
  kind: Presented['kind']
  principal: Principal
  row: CredentialRow
}

/**
 * Turns a credential into a principal. What it learnt from the store is cached. When the version of the accounts moves, it
 * first reads which credentials ended, so that the next request obeys and all others stay cached.
 */
export class Guard {
  private readonly held = new Map<string, Held>()
  private readonly uses: Uses
  /** What ended up to this version of the accounts is dropped. */
  private version = 0
  private catchingUp: Promise<void> | undefined

  constructor(
    private readonly store: Store,
    private readonly now: () => number = nowSeconds,
  ) {
    this.uses = new Uses(store)
  }

  /** The principal of the first valid credential, or the reason why none is; at once where the first is held. */
  identify(presented: readonly Presented[], version: number): Principal | ErrorCode | Promise<Principal | ErrorCode> {
    if (version !== this.version && this.held.size > 0) {
      return this.catchUp(version).then(() => this.find(presented))
    }
    this.version = version
    return this.find(presented)
  }

  /** Drops what ended up to a version. A read under way may have begun before that version was made, so there are two at most. */
  private async catchUp(version: number): Promise<void> {
    for (let round = 0; round < 2 && version !== this.version; round++) {
      this.catchingUp ??= this.dropEnded().finally(() => {
        this.catchingUp = undefined
      })
      await this.catchingUp
    }
  }

  private dropEnded(): Promise<void> {
    return this.store.read(async (db, { comptes }) => {
      const ended = await readEnded(db, this.version, comptes)
      if (!ended) this.held.clear()
      for (const empreinte of ended ?? []) this.held.delete(empreinte)
      this.version = comptes
    })
  }

  private find(presented: readonly Presented[]): Principal | ErrorCode | Promise<Principal | ErrorCode> {
    const [first] = presented
    if (!first) return 'credential_missing'
    return this.findHeld(first.kind, digest(first.secret)) ?? this.search(presented)
  }

  private async search(presented: readonly Presented[]): Promise<Principal | ErrorCode> {
    let refusal: ErrorCode = 'credential_missing'
    for (const credential of presented) {
      const found = await this.check(credential)
      if (typeof found !== 'string') return found
      if (REFUSALS.indexOf(found) < REFUSALS.indexOf(refusal)) refusal = found
    }
    return refusal
  }

  private findHeld(kind: Presented['kind'], empreinte: string): Principal | undefined {
    const held = this.held.get(empreinte)
    if (held?.kind !== kind) return undefined
    return this.stateOf(held) === 'valid' ? this.use(held) : undefined
  }

  private async check({ kind, secret }: Presented): Promise<Principal | ErrorCode> {
    if (!(kind === 'session' ? isSessionToken(secret) : isApiKey(secret))) return 'credential_invalid'
    const empreinte = digest(secret)
    const known = this.findHeld(kind, empreinte)
    if (known) return known
    const held = await this.load(kind, empreinte)
    if (!held || !isSameDigest(held.row.empreinte, empreinte)) return 'credential_invalid'
    const state = this.stateOf(held)
    return state === 'valid' ? this.use(held) : state
  }

  private async load(kind: Presented['kind'], empreinte: string): Promise<Held | undefined> {
    return this.store.read(async (db, { comptes }) => {
      const row: CredentialRow | undefined = await db.get(kind === 'session' ? findSession : findCle, { empreinte })
      if (!row) return undefined
      const held = { kind, row, principal: toPrincipal(kind, row) }
      if (comptes === this.version) this.hold(empreinte, held)
      return held
    })
  }

  private hold(empreinte: string, held: Held): void {
    if (this.held.size >= MAX_HELD_CREDENTIALS) this.held.delete(this.held.keys().next().value as string)
    this.held.set(empreinte, held)
  }

  private stateOf({ kind, row }: Held): 'valid' | 'credential_expired' | 'credential_revoked' {
    if (row.revocation !== null || row.desactive) return 'credential_revoked'
    return this.now() < endOf(kind, row) ? 'valid' : 'credential_expired'
  }

  /** Notes the use of a credential, once an hour. */
  private use({ kind, row, principal }: Held): Principal {
    const at = this.now() - (this.now() % USE_STEP_SECONDS)
    if ((row.derniere_utilisation ?? 0) < at) {
      row.derniere_utilisation = at
      this.uses.note({ table: kind === 'session' ? 'sessions' : 'cles_api', empreinte: row.empreinte, at })
    }
    return principal
  }

  /** Writes the uses that are noted and not yet written. */
  flush(): Promise<void> {
    return this.uses.flush()
  }
}

/** When a credential ends: a key at its expiration, a session after 7 days without use, 30 in all, and with its key. */
function endOf(kind: Presented['kind'], row: CredentialRow): number {
  const endOfKey = row.expiration ?? Number.POSITIVE_INFINITY
  if (kind === 'cle') return endOfKey
  const lastUse = row.derniere_utilisation ?? row.creation
  return Math.min(endOfKey, row.creation + SESSION_MAX_SECONDS, lastUse + SESSION_IDLE_SECONDS)
}

/**
 * An operator's own session has every scope, another session `lecture`, a key those it was made with. A session that was
 * made from a key is that key in all that it may do.
 */
function toPrincipal(kind: Presented['kind'], row: CredentialRow): Principal {
  const operateur = row.operateur === 1
  const own: Scope[] = operateur ? ['lecture', 'ecriture', 'export'] : ['lecture']
  const ofKey = row.portee?.split(' ')
  const portee = ofKey ? own.filter((scope) => ofKey.includes(scope)) : own
  const { id_compte, id_auteur, empreinte } = row
  return { kind: ofKey ? 'cle' : kind, id_compte, id_auteur, operateur, portee, empreinte }
}
