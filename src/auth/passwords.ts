import { hash, verify } from '@node-rs/argon2'
import { type Asker, FairQueue, type QueueBounds } from './fair-queue.js'

/** argon2id, the library's default, at the cost that OWASP's Password Storage Cheat Sheet asks for: 19 MiB, two passes. */
const OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

const MIN_PASSWORD_CODE_POINTS = 8
const MAX_PASSWORD_BYTES = 1_024

/** A password means the same however its accents are composed. */
export function hashPassword(password: string): Promise<string> {
  return hash(password.normalize(), OPTIONS)
}

/** What is wrong with a new password, or undefined. */
export function passwordFault(password: string): string | undefined {
  if ([...password].length < MIN_PASSWORD_CODE_POINTS)
    return `a password has at least ${MIN_PASSWORD_CODE_POINTS} characters`
  if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES) return `a password has at most ${MAX_PASSWORD_BYTES} bytes`
  if (/\p{Cc}/u.test(password)) return 'a password is one line, without control characters'
  return undefined
}

/** Checks passwords, each some 15 ms of one core and 19 MiB, in the order of a fair queue. */
export class PasswordChecker {
  private readonly queue: FairQueue
  private decoy: Promise<string> | undefined

  constructor(bounds: QueueBounds) {
    this.queue = new FairQueue(bounds)
  }

  /**
   * Whether a password is that of a hash. Without a hash (no such login) the same work is done and the answer is no, so
   * that the time taken tells nothing. Throws `overloaded` as the queue does.
   */
  matches(stored: string | undefined, password: string, asker: Asker): Promise<boolean> {
    return this.queue.run(asker, async () => {
      this.decoy ??= hashPassword('a password that no account has')
      const isRight = await verify(stored ?? (await this.decoy), password.normalize().slice(0, MAX_PASSWORD_BYTES))
      return stored !== undefined && isRight && Buffer.byteLength(password) <= MAX_PASSWORD_BYTES
    })
  }
}
