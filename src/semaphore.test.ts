import { expect, test } from 'vitest'
import { makeGate } from '../test/gate.js'
import { PATIENCE } from '../test/patience.js'
import { Semaphore } from './semaphore.js'

const late = () => new Error('late')
const full = () => new Error('full')
const closed = () => new Error('closed')

test('as many tasks run at once as there are permits, in the order of the calls', async () => {
  const semaphore = new Semaphore({ permits: 2 })
  const gates = Array.from({ length: 4 }, makeGate)
  const begun: number[] = []
  const works = gates.map((gate, i) =>
    semaphore.run(async () => {
      begun.push(i)
      await gate.opened
    }),
  )
  expect([semaphore.count, await settled(begun)]).toEqual([4, [0, 1]])
  gates[1]?.open()
  expect(await settled(begun)).toEqual([0, 1, 2])
  for (const gate of gates) gate.open()
  await Promise.all(works)
  expect([begun, semaphore.count]).toEqual([[0, 1, 2, 3], 0])
})

test('a task that fails releases its permit', async () => {
  const semaphore = new Semaphore({ permits: 1 })
  const failing = () => {
    throw new Error('its own')
  }
  await expect(semaphore.run(failing)).rejects.toThrow('its own')
  expect(await semaphore.run(async () => 'next')).toBe('next')
})

test('a caller past the queue limit is refused, and take never waits', async () => {
  const semaphore = new Semaphore({ permits: 3, maxQueued: 1, full })
  const release = semaphore.take(2)
  expect(() => semaphore.take(2)).toThrow('full')
  const other = semaphore.take()
  const waiting = semaphore.run(async () => 'ran')
  await expect(semaphore.run(async () => undefined)).rejects.toThrow('full')
  other()
  other()
  expect(await waiting).toBe('ran')
  release()
  release()
  expect([semaphore.count, typeof semaphore.take(3)]).toEqual([0, 'function'])
})

test('a task that gets no turn before its deadline is refused then, and never starts', async () => {
  const semaphore = new Semaphore({ permits: 1 })
  const end = makeGate()
  const done: string[] = []
  const long = semaphore.run(async () => {
    await end.opened
    done.push('long')
  })
  await expect(semaphore.run(async () => void done.push('late'), { at: Date.now() + 50, late })).rejects.toThrow('late')
  expect([done, semaphore.count]).toEqual([[], 1])
  const inTime = semaphore.run(async () => 'in time', { at: Date.now() + PATIENCE.timeout, late })
  end.open()
  await long
  expect([await inTime, done]).toEqual(['in time', ['long']])
})

test('a task whose turn comes just after its deadline is refused, and does not wait forever', async () => {
  const semaphore = new Semaphore({ permits: 1 })
  const before = semaphore.run(async () => {
    const end = Date.now() + 30
    while (Date.now() < end);
  })
  const begun: string[] = []
  const refused = semaphore.run(async () => void begun.push('late'), { at: Date.now() + 10, late })
  await expect(refused).rejects.toThrow('late')
  await before
  expect(begun).toEqual([])
})

test('close waits for running and queued tasks, and refuses all others', async () => {
  const semaphore = new Semaphore({ permits: 1, closed })
  const end = makeGate()
  const done: string[] = []
  const works = ['first', 'second'].map((name) =>
    semaphore.run(async () => {
      await end.opened
      done.push(name)
    }),
  )
  const closing = semaphore.close().then(() => done.push('closed'))
  await expect(semaphore.run(async () => undefined)).rejects.toThrow('closed')
  expect(() => semaphore.take()).toThrow('closed')
  end.open()
  await Promise.all([...works, closing])
  expect(done).toEqual(['first', 'second', 'closed'])
  await semaphore.close()
})

/** What a list contains when everything that can run has run. */
async function settled<T>(list: readonly T[]): Promise<T[]> {
  await new Promise((resolve) => setImmediate(resolve))
  return [...list]
}
