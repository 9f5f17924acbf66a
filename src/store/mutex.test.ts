import { expect, test } from 'vitest'
import { makeGate } from '../../test/gate.js'
import { PATIENCE } from '../../test/patience.js'
import { Mutex } from './pool.js'

test('a work whose turn does not come before its deadline is refused then, and never begun', async () => {
  const mutex = new Mutex()
  const done: string[] = []
  const end = makeGate()
  const long = mutex.run(async () => {
    await end.opened
    done.push('long')
  })
  const late = mutex.runBefore(
    Date.now() + 50,
    () => new Error('late'),
    async () => void done.push('late'),
  )
  await expect(late).rejects.toThrow('late')
  expect(done).toEqual([])
  end.open()
  await long
  expect(
    await mutex.runBefore(
      Date.now() + PATIENCE.timeout,
      () => new Error('late'),
      async () => 'in time',
    ),
  ).toBe('in time')
  await expect(
    mutex.runBefore(
      Date.now() + PATIENCE.timeout,
      () => new Error('late'),
      () => {
        throw new Error('its own')
      },
    ),
  ).rejects.toThrow('its own')
  expect(done).toEqual(['long'])
})

test('a work whose turn comes when its deadline has just passed is refused, and does not wait for ever', async () => {
  const mutex = new Mutex()
  const before = mutex.run(async () => {
    const end = Date.now() + 30
    while (Date.now() < end);
  })
  const begun: string[] = []
  const late = mutex.runBefore(
    Date.now() + 10,
    () => new Error('late'),
    async () => begun.push('late'),
  )
  await expect(late).rejects.toThrow('late')
  await before
  expect(begun).toEqual([])
})
