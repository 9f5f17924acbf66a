import { Problem } from '../errors.js'

export interface QueueBounds {
  /** Checks that wait: so many for known addresses, and as many for others. */
  loginQueue: number
  /** How long each waits at most. */
  loginWaitSeconds: number
}

/** Who asks: an address, and whether the login has signed in from it before. */
export interface Asker {
  address: string
  isKnown: boolean
}

/** Checks at once, as many as the runtime has threads. One is reserved for known addresses, and no address takes all. */
const MAX_RUNNING = 4
const MAX_RUNNING_OTHERS = 3
const MAX_RUNNING_PER_ADDRESS = 2

/**
 * Decides whose password is checked next. A check takes a core, so a flood of logins makes a queue. In it addresses take
 * turns, however many checks each of them waits for. Known addresses have a lane of their own, which gets every other turn
 * and a reserved place, so that strangers can neither fill it nor hold it up.
 */
export class FairQueue {
  private readonly known: Lane
  private readonly others: Lane
  private readonly runningByAddress = new Map<string, number>()
  private isKnownNext = true

  constructor(private readonly bounds: QueueBounds) {
    this.known = new Lane(MAX_RUNNING, bounds.loginQueue)
    this.others = new Lane(MAX_RUNNING_OTHERS, bounds.loginQueue)
  }

  /** Runs a check when its turn comes. Throws `overloaded` where too many wait, or it has waited too long. */
  async run<T>({ address, isKnown }: Asker, check: () => Promise<T>): Promise<T> {
    const lane = isKnown ? this.known : this.others
    await this.turn(lane, address)
    try {
      return await check()
    } finally {
      lane.running--
      this.count(address, -1)
      this.startNext()
    }
  }

  private turn(lane: Lane, address: string): Promise<void> {
    let timer: NodeJS.Timeout
    const turn = new Promise<void>((start, reject) => {
      const waiting: Waiting = { start, refuse: () => reject(new Problem('overloaded')) }
      timer = setTimeout(() => {
        lane.remove(address, waiting)
        waiting.refuse()
      }, this.bounds.loginWaitSeconds * 1_000)
      lane.add(address, waiting)
      this.startNext()
    })
    return turn.finally(() => clearTimeout(timer))
  }

  private startNext(): void {
    while (this.known.running + this.others.running < MAX_RUNNING) {
      const lanes = this.isKnownNext ? [this.known, this.others] : [this.others, this.known]
      const lane = lanes.find((each) => this.startFirst(each))
      if (!lane) return
      this.isKnownNext = lane === this.others
    }
  }

  /** Starts the first check of a lane that may start now. Says whether there was one. */
  private startFirst(lane: Lane): boolean {
    if (lane.running >= lane.maxRunning) return false
    const isFree = (address: string) => (this.runningByAddress.get(address) ?? 0) < MAX_RUNNING_PER_ADDRESS
    const first = lane.takeFirst(isFree)
    if (!first) return false
    lane.running++
    this.count(first.address, 1)
    first.waiting.start()
    return true
  }

  private count(address: string, step: 1 | -1): void {
    const running = (this.runningByAddress.get(address) ?? 0) + step
    if (running === 0) this.runningByAddress.delete(address)
    else this.runningByAddress.set(address, running)
  }
}

interface Waiting {
  start(): void
  refuse(): void
}

/** Checks that wait, in a line for each address. The address whose turn is next comes first. */
class Lane {
  running = 0
  private readonly lines = new Map<string, Waiting[]>()
  private count = 0

  constructor(
    readonly maxRunning: number,
    private readonly maxWaiting: number,
  ) {}

  /** Adds a check to its address's line. A full lane refuses the newest check of its longest line. */
  add(address: string, waiting: Waiting): void {
    const line = this.lines.get(address) ?? []
    this.lines.set(address, line)
    line.push(waiting)
    if (++this.count <= this.maxWaiting) return
    let longest = address
    for (const [other, { length }] of this.lines) {
      if (length > (this.lines.get(longest) as Waiting[]).length) longest = other
    }
    const refused = this.lines.get(longest)?.at(-1) as Waiting
    this.remove(longest, refused)
    refused.refuse()
  }

  remove(address: string, waiting: Waiting): void {
    const line = this.lines.get(address) ?? []
    const at = line.indexOf(waiting)
    if (at < 0) return
    line.splice(at, 1)
    this.count--
    if (line.length === 0) this.lines.delete(address)
  }

  /** Takes the oldest check of the first address that is free; the address then goes to the end. */
  takeFirst(isFree: (address: string) => boolean): { address: string; waiting: Waiting } | undefined {
    for (const [address, line] of this.lines) {
      if (!isFree(address)) continue
      const waiting = line[0] as Waiting
      this.lines.delete(address)
      this.lines.set(address, line)
      this.remove(address, waiting)
      return { address, waiting }
    }
    return undefined
  }
}
