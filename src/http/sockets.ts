import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** After the signal, requests that were on their way are still answered for so long. */
const STOP_GRACE_MILLISECONDS = 250

/** Knows the connections of a server and what they are at, so that a stop drops no request and waits for no idler. */
export class Connections {
  private readonly open = new Map<string, Socket>()
  private readonly running = new Map<ServerResponse, IncomingMessage>()
  private isStopping = false

  watch(app: FastifyInstance): void {
    app.server.on('connection', (socket: Socket) => {
      if (this.isStopping) return socket.destroy()
      const key = keyOf(socket)
      this.open.set(key, socket)
      socket.once('close', () => this.open.delete(key))
    })
    app.addHook('preClose', () => this.stop())
  }

  requestStarted(request: IncomingMessage, response: ServerResponse): void {
    this.running.set(response, request)
    response.once('close', () => this.running.delete(response))
    if (this.isStopping) closeAfter(response)
  }

  /**
   * Takes no new connection, and says `Connection: close` with every answer from now on. What has no request under way
   * after a moment is ended: idle connections, half a request, half a handshake.
   */
  private async stop(): Promise<void> {
    this.isStopping = true
    for (const response of this.running.keys()) closeAfter(response)
    await sleep(STOP_GRACE_MILLISECONDS)
    const busy = new Set([...this.running.values()].map(({ socket }) => keyOf(socket)))
    for (const [key, socket] of this.open) if (!busy.has(key)) socket.destroy()
  }
}

function closeAfter(response: ServerResponse): void {
  response.shouldKeepAlive = false
}

/** The same for a TLS connection and the TCP connection below it. */
function keyOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`
}
