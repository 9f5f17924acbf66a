import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { LongReads } from './long-reads.js'

const slow = { name: 'StoreError', fault: 'slow' }

test('two run at once, fifty wait, one more is refused; what still waits or runs after 2 s is told so, and then there is room', async () => {
  let lent = 0
  const reads = new LongReads({ make: () => ++lent, dispose: () => lent--, maxAtOnce: 2 })
  let end = (): void => undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const began: number[] = []
  const held = Array.from({ length: 52 }, () =>
    reads
      .run(async (which) => {
        began.push(which)
        await ended
      })
      .catch((error) => error),
  )
  await expect(reads.run(async () => undefined)).rejects.toMatchObject(slow)
  expect(await Promise.all(held)).toMatchObject(held.map(() => slow))
  expect(began).toEqual([1, 2])
  end()
  await nextTurn()
  expect(await Promise.all([3, 4, 5].map((value) => reads.run(async () => value)))).toEqual([3, 4, 5])
  await reads.close()
  expect(lent).toBe(0)
})
