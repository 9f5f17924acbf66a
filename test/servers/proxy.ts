import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Gate, makeGate } from '../gate.js'
import { freePort } from './child.js'

/** A proxy between a client and a server, with faults of a network. */
export interface TestProxy {
  readonly port: number
  /** From now on, delays every chunk in both directions and keeps their order. */
  delay(milliseconds: number): void
  /** Resets all connections, and refuses new ones. */
  cut(): void
  /** Accepts connections again. */
  restore(): Promise<void>
  /** While on, accepts connections and holds back all bytes; afterwards sends them on. */
  blackhole(on: boolean): void
  /** Replaces text in what the server sends, if one chunk has all of it, by text of the same length. */
  replace(from: string, to: string): void
  /** How many clients are connected. */
  connections(): number
  close(): void
}

const HOST = '127.0.0.1'

type Change = (chunk: Buffer) => Buffer

export async function startProxy(targetPort: number): Promise<TestProxy> {
  const port = await freePort()
  const pairs = new Map<Socket, Socket>()
  const changes: Change[] = []
  let server: Server | undefined
  let milliseconds = 0
  let hole: Gate | undefined

  const travel = async () => {
    if (milliseconds) await sleep(milliseconds, undefined, { ref: false })
    while (hole) await hole.opened
  }
  const take = (client: Socket) => {
    const target = connect({ port: targetPort, host: HOST, allowHalfOpen: true, noDelay: true })
    pairs.set(client, target)
    client.once('close', () => pairs.delete(client))
    pump(client, target, travel)
    pump(target, client, travel, (chunk) => changes.reduce((changed, change) => change(changed), chunk))
  }
  const cut = () => {
    server?.close()
    server = undefined
    for (const socket of [...pairs].flat()) socket.resetAndDestroy()
  }
  const restore = async () => {
    if (server) return
    server = createServer({ allowHalfOpen: true, noDelay: true }, take).listen(port, HOST)
    await once(server, 'listening')
  }
  const blackhole = (on: boolean) => {
    if (on === (hole !== undefined)) return
    hole?.open()
    hole = on ? makeGate() : undefined
  }
  await restore()
  return {
    ...{ port, cut, restore, blackhole },
    delay(ofChunk) {
      milliseconds = ofChunk
    },
    replace(from, to) {
      changes.push(replacing(Buffer.from(from), Buffer.from(to)))
    },
    connections: () => pairs.size,
    close() {
      cut()
      blackhole(false)
    },
  }
}

/** Forwards the chunks and the end of one side to the other, in order, each after its delay. */
function pump(from: Socket, to: Socket, travel: () => Promise<void>, change: Change = (chunk) => chunk): void {
  let last = Promise.resolve()
  const pass = (deliver: () => void) => {
    const travelled = travel()
    last = last.then(() => travelled).then(deliver)
  }
  const write = (chunk: Buffer) => {
    if (to.destroyed || to.write(change(chunk))) return
    from.pause()
    to.once('drain', () => from.resume())
  }
  from.on('data', (chunk) => pass(() => write(chunk)))
  from.on('end', () => pass(() => to.end()))
  // An error here is forwarded as an end: no program takes that for success.
  from.on('error', () => undefined)
  from.on('close', () => pass(() => to.destroySoon()))
}

function replacing(from: Buffer, to: Buffer): Change {
  if (from.length !== to.length) throw new Error(`${from} and ${to} differ in length`)
  return (chunk) => {
    const changed = Buffer.from(chunk)
    for (let at = changed.indexOf(from); at >= 0; at = changed.indexOf(from, at + from.length)) to.copy(changed, at)
    return changed
  }
}
