import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { WorkerLimits } from './workers.js'

/** Answers every charge with numbers that no process would compute by itself. */
const SUPERVISOR = `
  const { parentPort } = require('node:worker_threads')
  const budget = { allowed: true, remaining: 77, resetSeconds: 1 }
  parentPort.on('message', ({ batch, calls }) =>
    parentPort.postMessage({ kind: 'budgets', batch, budgets: calls.map(() => budget) }))
  parentPort.postMessage('ready')`

test('a blocked event loop does not make a worker believe that the supervisor hangs', async () => {
  const supervisor = new Worker(SUPERVISOR, { eval: true })
  await once(supervisor, 'message')
  const warnings: string[] = []
  const limits = new WorkerLimits((question) => supervisor.postMessage(question), {
    info: () => undefined,
    warn: (text: string) => warnings.push(text),
  } as never)
  supervisor.on('message', (answer) => limits.heard(answer))
  await limits.start()
  const taken = limits.limiter('essai', 5, 60).take('a')
  await nextTurn()
  for (const end = performance.now() + 1_500; performance.now() < end; );
  expect([await taken, warnings]).toEqual([{ allowed: true, remaining: 77, resetSeconds: 1 }, []])
  await supervisor.terminate()
})
