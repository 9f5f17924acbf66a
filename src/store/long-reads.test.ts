import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { makeGate } from '../../test/gate.js'
import type { Deadline } from '../semaphore.js'
import { LONG_READS_QUEUE, withinBudget } from './long-reads.js'
import { Pool } from './pool.js'

const slow = { name: 'StoreError', fault: 'slow' }

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('two run at once, fifty wait, one more is refused; after 2 s all waiting or running ones are refused, and then there is room', async () => {
  let lent = 0
  const pool = new Pool({ make: () => ++lent, dispose: () => lent--, ...LONG_READS_QUEUE, max: 2 })
  const run = <R>(work: (which: number) => Promise<R>) => withinBudget((deadline: Deadline) => pool.use(work, deadline))
  const end = makeGate()
  const began: number[] = []
  let refused = 0
  const waiting = Array.from({ length: 52 }, () =>
    run(async (which) => {
      began.push(which)
      await end.opened
    }).catch((error) => {
      refused++
      return error
    }),
  )
  await expect(run(async () => undefined)).rejects.toMatchObject(slow)
  await vi.advanceTimersByTimeAsync(1_999)
  expect(refused).toBe(0)
  await vi.advanceTimersByTimeAsync(1)
  expect(await Promise.all(waiting)).toMatchObject(waiting.map(() => slow))
  expect(began).toEqual([1, 2])
  end.open()
  await vi.advanceTimersByTimeAsync(0)
  expect(await Promise.all([3, 4, 5].map((value) => run(async () => value)))).toEqual([3, 4, 5])
  await pool.close()
  expect(lent).toBe(0)
})
