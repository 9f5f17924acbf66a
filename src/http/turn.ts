import type { Server, Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { Store, Versions } from '../store/store.js'

/** How many ready sockets the event loop takes from the kernel at once; with fewer open, it asks once a turn. */
const MAX_OPEN_SOCKETS = 1_000

/**
 * The versions of the store, read once for all the requests of one turn of the event loop.
 *
 * A request must see every change that was committed before it was sent. In one turn the loop asks the kernel once
 * which sockets are ready, and only then do requests run, so a version read by the first of them is newer than the
 * sending of all. Two cases read for themselves: a socket's second request in a turn, whose bytes may have arrived since, and
 * a process with so many open sockets that the loop may ask twice.
 */
export class TurnVersions {
  private current: Versions | undefined
  /** The loop counts a turn just before it asks the kernel, so what is read after a poll never outlives it. */
  private turn = -1
  private readonly served = new Set<Socket>()
  private openSockets = 0

  constructor(
    private readonly store: Pick<Store, 'versions'>,
    server: Pick<Server, 'on'>,
  ) {
    server.on('connection', (socket: Socket) => {
      this.openSockets++
      socket.once('close', () => this.openSockets--)
    })
  }

  /** The versions for a request on a socket. */
  read(socket: Socket): Versions | Promise<Versions> {
    const turn = performance.nodeTiming.uvMetricsInfo.loopCount
    if (turn !== this.turn) {
      this.turn = turn
      this.current = undefined
      this.served.clear()
    }
    const isFirst = !this.served.has(socket)
    this.served.add(socket)
    if (this.current && isFirst && this.openSockets < MAX_OPEN_SOCKETS) return this.current
    const versions = this.store.versions()
    if (versions instanceof Promise) return versions
    this.current = versions
    return versions
  }
}
