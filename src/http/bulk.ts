import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../errors.js'
import { Semaphore } from '../semaphore.js'

/** How many bodies of the maximum size may be in memory at once; smaller ones may be more. */
const MAX_BODIES = 4
/** Smaller bodies are not counted, so that slow uploads do not block clients that send a line or two. */
const UNCOUNTED_BYTES = 16_384

/**
 * Limits the total size of large bodies in memory. A body counts from its headers until its processing ends, or until the
 * client leaves before that started.
 */
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

  /** Processes a body that was admitted. */
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
