import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { makeGate } from '../../test/gate.js'
import { LongReads } from './long-reads.js'

const slow = { name: 'StoreError', fault: 'slow' }

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('two run at once, fifty wait, one more is refused; what still waits or runs after 2 s is told so, and then there is room', async () => {
  let lent = 0
  const reads = new LongReads({ make: () => ++lent, dispose: () => lent--, maxAtOnce: 2 })
  const end = makeGate()
  const began: number[] = []
  let refused = 0
  const held = Array.from({ length: 52 }, () =>
    reads
      .run(async (which) => {
        began.push(which)
        await end.opened
      })
      .catch((error) => {
        refused++
        return error
      }),
  )
  await expect(reads.run(async () => undefined)).rejects.toMatchObject(slow)
  await vi.advanceTimersByTimeAsync(1_999)
  expect(refused).toBe(0)
  await vi.advanceTimersByTimeAsync(1)
  expect(await Promise.all(held)).toMatchObject(held.map(() => slow))
  expect(began).toEqual([1, 2])
  end.open()
  await vi.advanceTimersByTimeAsync(0)
  expect(await Promise.all([3, 4, 5].map((value) => reads.run(async () => value)))).toEqual([3, 4, 5])
  await reads.close()
  expect(lent).toBe(0)
})
