/** The whole of a thread: one connection, and its calls as they are asked for. */
import { parentPort, workerData } from 'node:worker_threads'
import { StoreError } from '../store.js'
import type { Answer, Call, ThreadData } from './calls.js'
import { type Connection, openReader, openWriter } from './connection.js'

const { path, kind } = workerData as ThreadData
const port = parentPort as NonNullable<typeof parentPort>
let connection: Connection | undefined

port.on('message', async (call: Call) => {
  port.postMessage(await answer(call))
  if (call[0] === 'close') port.close()
})

/** What fails to open is told as what fails later is: as the answer to whoever asked. */
async function answer([method, ...given]: Call): Promise<Answer> {
  try {
    connection ??= kind === 'reader' ? openReader(path) : openWriter(path)
    return { value: await (connection[method] as (...given: unknown[]) => unknown).call(connection, ...given) }
  } catch (error) {
    if (error instanceof StoreError) return { fault: error.fault, message: error.message }
    return { error }
  }
}
