import { setImmediate as nextTurn } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PATIENCE } from '../../test/patience.js'
import type { Problem } from '../errors.js'
import { shedLoad } from './shedding.js'

let app: FastifyInstance
beforeEach(() => {
  app = Fastify()
  app.setErrorHandler((error: Problem, _request, reply) => reply.code(error.status).send(error.code))
  app.get('/', () => 'served')
  app.get('/probe', { config: { isProbe: true } }, () => 'served')
})
afterEach(() => app.close())

async function ask(path = '/'): Promise<string> {
  return (await fetch(app.listeningOrigin + path)).text()
}

function block(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
}

/** Each turn of the event loop takes 50 ms until `work` is over. */
async function lagging<T>(work: () => Promise<T>): Promise<T> {
  let isOver = false
  const result = work().finally(() => {
    isOver = true
  })
  while (!isOver) {
    block(50)
    await nextTurn()
  }
  return result
}

test('while most turns of the event loop are too long, requests are shed and probes are not; afterwards all are served', async () => {
  shedLoad(app, { maxDelayMilliseconds: 20, checkMilliseconds: 20 })
  await app.listen({ host: '127.0.0.1', port: 0 })
  await lagging(() => vi.waitFor(async () => expect(await ask()).toBe('overloaded'), PATIENCE))
  expect(await lagging(() => ask('/probe'))).toBe('served')
  await vi.waitFor(async () => expect(await ask()).toBe('served'), PATIENCE)
})

test('one long turn, as at the start on a slow machine, sheds nothing', async () => {
  shedLoad(app)
  await app.ready()
  block(2_500)
  await app.listen({ host: '127.0.0.1', port: 0 })
  expect(await ask()).toBe('served')
  block(2_500)
  expect(await ask()).toBe('served')
})
