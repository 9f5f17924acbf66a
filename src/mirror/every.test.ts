import { expect, test } from 'vitest'
import { StoreError } from '../store/store.js'
import { MirrorError } from './errors.js'
import { passAfterPass } from './every.js'

/** Runs passes that each do as given, and stops after the last. Returns when each began, in seconds, and what was reported. */
async function runPasses(
  passes: ((clock: { now: number }) => unknown)[],
): Promise<{ begun: number[]; reported: string[] }> {
  const clock = { now: 0 }
  const stop = new AbortController()
  const begun: number[] = []
  const reported: string[] = []
  const sleep = async (milliseconds: number) => {
    clock.now += milliseconds
  }
  await passAfterPass(
    {
      every: 600,
      clock: { now: () => clock.now, sleep },
      signal: stop.signal,
      tell: (message) => reported.push(message),
    },
    async () => {
      begun.push(clock.now / 1_000)
      await passes[begun.length - 1]!(clock)
      if (begun.length === passes.length) stop.abort()
    },
  )
  return { begun, reported }
}

const nothing = () => undefined

test('passes start at the interval, or at once after one that took longer', async () => {
  const long = (clock: { now: number }) => {
    clock.now += 700_000
  }
  expect(await runPasses([nothing, long, nothing, nothing])).toEqual({ begun: [0, 600, 1_300, 1_900], reported: [] })
})

test('a failed pass is reported, and the next one starts on schedule, or when the portal may be asked again', async () => {
  const fail = (error: Error) => () => Promise.reject(error)
  const { begun, reported } = await runPasses([
    fail(new MirrorError('x')),
    fail(new MirrorError('y', 8 * 86_400_000)),
    fail(new StoreError('busy', 'z')),
    nothing,
  ])
  expect(begun).toEqual([0, 600, 8 * 86_400, 8 * 86_400 + 600])
  const rest = 'completed batches are kept, and the next pass resumes'
  expect(reported).toEqual(['x', 'y', 'z'].map((each) => `error: ${each}; ${rest}`))
})

test('a programming error stops the passes', async () => {
  await expect(runPasses([() => Promise.reject(new TypeError('ours')), nothing])).rejects.toThrow('ours')
})
