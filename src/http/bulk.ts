import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../errors.js'
import { Semaphore } from '../semaphore.js'

/** Bodies of the largest size that are in memory at once; smaller ones are more. */
const MAX_BODIES = 4
/** As any request may have: who sends a line or two is not kept out by who uploads slowly. */
const UNCOUNTED_BYTES = 16_384

/** Bounds what large bodies take together: each counts from its headers until the work on it has ended, or its client is gone. */
export class BulkBodies {
  private readonly bytes: Semaphore
  private readonly admitted = new WeakMap<FastifyRequest, { release(): void; isWorkedOn: boolean }>()

  constructor(private readonly maxBodyBytes: number) {
    this.bytes = new Semaphore({ permits: MAX_BODIES * maxBodyBytes, full: () => new Problem('overloaded') })
  }

  /** Before a body is read. Throws `overloaded`. */
  admit(request: FastifyRequest, reply: FastifyReply): void {
    const declared = Number(request.headers['content-length'] ?? this.maxBodyBytes)
    if (declared <= UNCOUNTED_BYTES) return
    const body = { release: this.bytes.take(Math.min(declared, this.maxBodyBytes)), isWorkedOn: false }
    this.admitted.set(request, body)
    reply.raw.once('close', () => {
      if (!body.isWorkedOn) body.release()
    })
  }

  /** Works on a body that was admitted. */
  async use<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
    const body = this.admitted.get(request)
    if (!body) return work()
    body.isWorkedOn = true
    try {
      return await work()
    } finally {
      body.release()
    }
  }
}
