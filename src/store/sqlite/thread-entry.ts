/** The whole of a thread: one connection, and its calls as they are asked for. */
import { parentPort, workerData } from 'node:worker_threads'
import { StoreError, type StoreFault } from '../store.js'
import { type Connection, openReader, openWriter } from './connection.js'

/** What the thread opens when it is first asked something. */
export interface ThreadData {
  path: string
  kind: ThreadKind
}

export type ThreadKind = 'reader' | 'writer'

/** What a thread is asked, one after the other: a method of its connection and what it takes. */
export type Call = { [M in Method]: [method: M, ...given: Parameters<Connection[M]>] }[Method]
export type Method = 'rows' | 'row' | 'change' | 'load' | 'rollback' | 'close'

/** What it answers, in the order in which it was asked. */
export type Answer = { value: unknown } | { fault: StoreFault; message: string } | { error: unknown }

const { path, kind } = workerData as ThreadData
const port = parentPort as NonNullable<typeof parentPort>
let connection: Connection | undefined

port.on('message', async (call: Call) => {
  port.postMessage(await answer(call))
  if (call[0] === 'close') port.close()
})

/** A connection that cannot be opened fails the call that needed it, like any later error. */
async function answer([method, ...given]: Call): Promise<Answer> {
  try {
    connection ??= kind === 'reader' ? openReader(path) : openWriter(path)
    return { value: await (connection[method] as (...given: unknown[]) => unknown).call(connection, ...given) }
  } catch (error) {
    if (error instanceof StoreError) return { fault: error.fault, message: error.message }
    return { error }
  }
}
