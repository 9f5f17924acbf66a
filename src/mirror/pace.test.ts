import { expect, test } from 'vitest'
import { makePace, type Pace } from './pace.js'

const START = Date.parse('2026-03-01T12:00:00Z')
const { signal } = new AbortController()

/** A clock that wakes its sleepers in order of time. */
function makeClock() {
  let now = START
  const sleepers: { at: number; wake: () => void }[] = []
  return {
    now: () => now,
    sleep: (milliseconds: number) => new Promise<void>((wake) => void sleepers.push({ at: now + milliseconds, wake })),
    /** Wakes all sleepers, also those who sleep again. */
    async pass() {
      for (;;) {
        await new Promise(setImmediate)
        const next = sleepers.sort((a, b) => a.at - b.at).shift()
        if (!next) return
        now = Math.max(now, next.at)
        next.wake()
      }
    },
  }
}

test.each([
  ['RateLimit', (pace: Pace) => pace.heed({ ratelimit: '"x";r=0;t=60' })],
  ['Retry-After', (pace: Pace) => pace.rest(60_000)],
])(
  'queued requests obey a pause set by %s meanwhile, and then follow each other at the maximum rate',
  async (_, ask) => {
    const clock = makeClock()
    const pace = makePace(1, clock)
    const sent: number[] = []
    const turns = [1, 2, 3].map(() => pace.turn(signal).then(() => sent.push((clock.now() - START) / 1_000)))
    await new Promise(setImmediate)
    ask(pace)
    await clock.pass()
    await Promise.all(turns)
    expect(sent).toEqual([0, 60, 61])
    expect(pace.waitedMilliseconds()).toBeGreaterThanOrEqual(57_000)
  },
)

test('a window or wait past all dates pauses for a week, and is reported', async () => {
  for (const ask of [
    (pace: Pace) => pace.heed({ ratelimit: '"x";r=0;t=999999999999999' }),
    (pace: Pace) => pace.rest(999_999_999_999_000),
  ]) {
    const pace = makePace(1, makeClock())
    ask(pace)
    await expect(pace.turn(signal)).rejects.toMatchObject({
      name: 'MirrorError',
      message: 'the portal asks to wait until 2026-03-08T12:00:00.000Z',
      retryAt: START + 7 * 86_400_000,
    })
  }
})
