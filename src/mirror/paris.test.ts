import { expect, test } from 'vitest'
import { fromParis } from './paris.js'

test.each([
  ['in winter', '2026-01-31 13:00:00', '2026-01-31T12:00:00Z'],
  ['in summer', '2026-07-14 00:30:00', '2026-07-13T22:30:00Z'],
  ['before the clocks go forward', '2026-03-29 01:59:59', '2026-03-29T00:59:59Z'],
  ['after the clocks went forward', '2026-03-29 03:00:00', '2026-03-29T01:00:00Z'],
  ['that no clock shows', '2026-03-29 02:30:00', '2026-03-29T01:30:00Z'],
  ['that comes twice, which is the earlier', '2026-10-25 02:30:00', '2026-10-25T00:30:00Z'],
  ['after the hour that comes twice', '2026-10-25 03:00:00', '2026-10-25T02:00:00Z'],
  ['on a leap day', '2024-02-29 12:00:00', '2024-02-29T11:00:00Z'],
])('a local time %s', (_, local, instant) => {
  expect(fromParis(local)).toBe(instant)
})

test.each(['', '2026-01-31', '2026-02-30 12:00:00', '2026-01-31 25:00:00', '2026-01-31T12:00:00Z', 'x'])(
  '%j is no local time',
  (text) => {
    expect(fromParis(text)).toBeUndefined()
  },
)
