/**
 * Workers send each other the versions that they commit, so that the next request sees a change in any worker. A worker has a
 * lease from the supervisor while they are in touch. A commit is acknowledged once every worker with a lease knows it; a worker
 * without a lease asks the database on each request. So nobody waits long for a worker that hangs, and it may continue later.
 * See docs/decisions/0034-versions-among-workers.md.
 */
import { performance } from 'node:perf_hooks'
import type { Member, Siblings } from '../store/opening.js'
import type { Versions } from '../store/store.js'

/** How long a lease lasts from the beat that asked for it. */
const LEASE_MILLISECONDS = 1_000
const BEAT_MILLISECONDS = 250
/** A supervisor that takes longer is assumed to hang. By then every lease has ended. */
const ANSWER_TIMEOUT_MILLISECONDS = 2 * LEASE_MILLISECONDS

/** Messages of a worker: it asks for a lease, has committed versions, has recorded those of another worker. */
export type FromSibling = { kind: 'versions' } & (
  | { step: 'beat'; sentAt: number }
  | { step: 'committed'; commit: number; versions: Versions }
  | { step: 'noted'; notice: number }
)

/** Messages of the supervisor: a lease, versions to record, a commit that all workers know. */
export type ToSibling = { kind: 'versions' } & (
  | { step: 'lease'; sentAt: number }
  | { step: 'notice'; notice: number; versions: Versions }
  | { step: 'known'; commit: number }
)

/** The worker's part. */
export class WorkerSiblings implements Siblings {
  private member: Member | undefined
  private beats: NodeJS.Timeout | undefined
  /** By the clock of `performance.now`, which goes on while the process is stopped. */
  private leaseEnd = 0
  private leases = 0
  /** Whether the store was asked for its versions since this lease began. */
  private isCaughtUp = false
  private readonly unacknowledged = new Map<number, () => void>()
  private commits = 0
  private isSilent = false

  constructor(
    private readonly say: (message: FromSibling) => unknown,
    private readonly log: { warn(text: string): void },
  ) {}

  get isInformed(): boolean {
    return this.isCaughtUp && performance.now() < this.leaseEnd
  }

  join(member: Member): void {
    this.member = member
    const beat = () => this.say({ kind: 'versions', step: 'beat', sentAt: performance.now() })
    this.beats = setInterval(beat, BEAT_MILLISECONDS).unref()
    beat()
  }

  announce(versions: Versions): Promise<void> {
    return new Promise((resolve) => {
      const commit = ++this.commits
      const end = () => {
        clearTimeout(timer)
        this.unacknowledged.delete(commit)
        resolve()
      }
      const timer = setTimeout(() => {
        if (!this.isSilent)
          this.log.warn('no answer from the supervisor; each worker reads the version from the database')
        this.isSilent = true
        end()
      }, ANSWER_TIMEOUT_MILLISECONDS)
      this.unacknowledged.set(commit, end)
      this.say({ kind: 'versions', step: 'committed', commit, versions })
    })
  }

  heard(message: ToSibling): void {
    this.isSilent = false
    if (message.step === 'lease') this.extend(message.sentAt)
    else if (message.step === 'known') this.unacknowledged.get(message.commit)?.()
    else this.note(message.versions, message.notice)
  }

  leave(): void {
    clearInterval(this.beats)
    this.leaseEnd = 0
  }

  /** Requests of this turn of the event loop may share versions that were read before, see `http/turn.ts`. */
  private note(versions: Versions, notice: number): void {
    this.member?.note(versions)
    setImmediate(() => this.say({ kind: 'versions', step: 'noted', notice }))
  }

  /** Between two leases no commit waits for this process, so each new lease starts by asking the store. */
  private extend(sentAt: number): void {
    const isNew = performance.now() >= this.leaseEnd
    this.leaseEnd = Math.max(this.leaseEnd, sentAt + LEASE_MILLISECONDS)
    if (!isNew) return
    const lease = ++this.leases
    this.isCaughtUp = false
    void this.member?.catchUp().then(() => {
      if (lease === this.leases) this.isCaughtUp = true
    })
  }
}

/** Versions that other workers must record. */
interface Notice<Worker> {
  writer: Worker
  commit: number
  /** Workers with a lease that have not recorded them. */
  missing: Set<Worker>
  timer: NodeJS.Timeout | undefined
}

/** The supervisor's part. */
export class VersionRelay<Worker extends object> {
  private readonly leaseEnds = new Map<Worker, number>()
  private readonly gone = new WeakSet<Worker>()
  private readonly notices = new Map<number, Notice<Worker>>()
  private count = 0

  constructor(private readonly say: (worker: Worker, message: ToSibling) => void) {}

  heard(worker: Worker, message: FromSibling): void {
    if (message.step === 'beat') {
      // Messages of a process may be read after it has ended.
      if (this.gone.has(worker)) return
      this.leaseEnds.set(worker, performance.now() + LEASE_MILLISECONDS)
      this.say(worker, { kind: 'versions', step: 'lease', sentAt: message.sentAt })
    } else if (message.step === 'committed') this.relay(worker, message.commit, message.versions)
    else this.noted(message.notice, [worker])
  }

  /** A process that has ended serves nobody. */
  ended(worker: Worker): void {
    this.gone.add(worker)
    this.leaseEnds.delete(worker)
    for (const notice of this.notices.keys()) this.noted(notice, [worker])
  }

  private relay(writer: Worker, commit: number, versions: Versions): void {
    const now = performance.now()
    const leased = [...this.leaseEnds].filter(([worker, end]) => worker !== writer && end > now)
    const notice = ++this.count
    this.notices.set(notice, { writer, commit, missing: new Set(leased.map(([worker]) => worker)), timer: undefined })
    for (const [worker] of leased) this.say(worker, { kind: 'versions', step: 'notice', notice, versions })
    this.noted(notice, [])
  }

  /** Answers the writer when no worker is missing; until then checks again when the next lease ends. */
  private noted(number: number, workers: readonly Worker[]): void {
    const notice = this.notices.get(number)
    if (!notice) return
    const { writer, commit, missing } = notice
    for (const worker of workers) missing.delete(worker)
    clearTimeout(notice.timer)
    if (missing.size === 0) {
      this.notices.delete(number)
      this.say(writer, { kind: 'versions', step: 'known', commit })
      return
    }
    const endOf = (worker: Worker) => this.leaseEnds.get(worker) ?? 0
    const next = Math.min(...[...missing].map(endOf)) - performance.now()
    const look = () =>
      this.noted(
        number,
        [...missing].filter((worker) => endOf(worker) <= performance.now()),
      )
    notice.timer = setTimeout(look, Math.ceil(next) + 1)
  }
}
