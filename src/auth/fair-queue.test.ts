import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { FairQueue } from './fair-queue.js'

/** A queue whose checks the test ends one by one. */
function makeQueue(bounds = { loginQueue: 100, loginWaitSeconds: 60 }) {
  const queue = new FairQueue(bounds)
  const started: string[] = []
  const running: (() => void)[] = []
  const ask = (address: string, isKnown = false) =>
    queue
      .run({ address, isKnown }, () => {
        started.push(address)
        return new Promise<void>((resolve) => running.push(resolve))
      })
      .then(
        () => 'checked',
        (error: { code: string }) => error.code,
      )
  /** Ends the check that has run longest. */
  const endOne = async () => {
    running.shift()?.()
    await turn()
  }
  return { ask, endOne, started }
}

test('at most two checks of one address run at once, and addresses take turns', async () => {
  const { ask, endOne, started } = makeQueue()
  for (const address of ['a', 'a', 'a', 'a', 'b', 'b', 'c', 'd']) void ask(address)
  await turn()
  expect(started).toEqual(['a', 'a', 'b'])
  for (let i = 0; i < 5; i++) await endOne()
  expect(started).toEqual(['a', 'a', 'b', 'a', 'b', 'c', 'd', 'a'])
})

test('one slot is reserved for known addresses, which get every other turn', async () => {
  const { ask, endOne, started } = makeQueue()
  for (let i = 0; i < 20; i++) void ask(`stranger ${i}`)
  await turn()
  expect(started).toHaveLength(3)
  for (let i = 0; i < 6; i++) void ask(`known ${i}`, true)
  await turn()
  expect(started.slice(3)).toEqual(['known 0'])
  for (let i = 0; i < 8; i++) await endOne()
  const names = started.slice(4).map((address) => address.split(' ')[0])
  expect(names.filter((name) => name === 'known').length).toBeGreaterThanOrEqual(4)
  expect(names.filter((name) => name === 'stranger').length).toBeGreaterThanOrEqual(3)
})

test('a full lane refuses the newest check of its longest line, or the new one, and the other lane stays open', async () => {
  const { ask, endOne, started } = makeQueue({ loginQueue: 3, loginWaitSeconds: 60 })
  const answers = ['a', 'a', 'a', 'a', 'b', 'b'].map((address) => ask(address))
  await turn()
  // Running: a, a, b. Waiting: a, a, b.
  const late = ask('c')
  expect(await answers[3]).toBe('overloaded')
  expect(await ask('d')).toBe('overloaded')
  void ask('known', true)
  await turn()
  expect(started).toEqual(['a', 'a', 'b', 'known'])
  for (let i = 0; i < 8; i++) await endOne()
  expect(await Promise.all([...answers, late])).toEqual([
    ...['checked', 'checked', 'checked', 'overloaded', 'checked', 'checked'],
    'checked',
  ])
})

test('a check that waits too long is refused and never runs, and its place is free again', async () => {
  const { ask, endOne, started } = makeQueue({ loginQueue: 1, loginWaitSeconds: 0.05 })
  const running = ['a', 'b', 'c'].map((address) => ask(address))
  await turn()
  expect(await ask('d')).toBe('overloaded')
  const last = ask('e')
  for (let i = 0; i < 3; i++) await endOne()
  await endOne()
  expect(await Promise.all([...running, last])).toEqual(['checked', 'checked', 'checked', 'checked'])
  expect(started).toEqual(['a', 'b', 'c', 'e'])
})

test('a check that fails frees its slot', async () => {
  const queue = new FairQueue({ loginQueue: 10, loginWaitSeconds: 60 })
  const fail = () => queue.run({ address: 'a', isKnown: false }, () => Promise.reject(new Error('no')))
  for (let i = 0; i < 10; i++) await expect(fail()).rejects.toThrow('no')
})
