import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../errors.js'

/** Bodies of the largest size that are in memory at once; smaller ones are more. */
const MAX_BODIES = 4
/** As any request may have: who sends a line or two is not kept out by who uploads slowly. */
const UNCOUNTED_BYTES = 16_384

/** Bounds what large bodies take together: each counts from its headers until the work on it has ended, whoever still waits. */
export class BulkBodies {
  private bytes = 0
  private readonly held = new WeakMap<FastifyRequest, { bytes: number; isWorkedOn: boolean }>()

  constructor(private readonly maxBodyBytes: number) {}

  /** Before a body is read. Throws `overloaded`. */
  admit(request: FastifyRequest, reply: FastifyReply): void {
    const declared = Number(request.headers['content-length'] ?? this.maxBodyBytes)
    if (declared <= UNCOUNTED_BYTES) return
    const bytes = Math.min(declared, this.maxBodyBytes)
    if (this.bytes + bytes > MAX_BODIES * this.maxBodyBytes) throw new Problem('overloaded')
    const held = { bytes, isWorkedOn: false }
    this.held.set(request, held)
    this.bytes += bytes
    reply.raw.once('close', () => {
      if (!held.isWorkedOn) this.free(held)
    })
  }

  /** Works on a body that was admitted. */
  async use<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
    const held = this.held.get(request)
    if (!held) return work()
    held.isWorkedOn = true
    try {
      return await work()
    } finally {
      this.free(held)
    }
  }

  private free(held: { bytes: number }): void {
    this.bytes -= held.bytes
    held.bytes = 0
  }
}
