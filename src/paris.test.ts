import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatInstant } from './instant.js'
import { formatParis, parseParis } from './paris.js'

const at = (instant: string) => formatParis(Date.parse(instant) / 1000)

test('an instant is shown in the local time of Paris, summer time included', () => {
  expect(at('2026-01-31T12:00:00Z')).toBe('2026-01-31 13:00:00')
  expect(at('2026-07-31T23:30:00Z')).toBe('2026-08-01 01:30:00')
  expect(at('2025-12-31T23:00:00Z')).toBe('2026-01-01 00:00:00')
})

test('the clock changes at the exact second', () => {
  expect(at('2026-03-29T00:59:59Z')).toBe('2026-03-29 01:59:59')
  expect(at('2026-03-29T01:00:00Z')).toBe('2026-03-29 03:00:00')
  expect(at('2026-10-25T00:59:59Z')).toBe('2026-10-25 02:59:59')
  expect(at('2026-10-25T01:00:00Z')).toBe('2026-10-25 02:00:00')
})

test('the first and last dates of a store have a four-digit year, and an unknown date is an empty text', () => {
  expect(at('0000-01-01T00:00:00Z')).toBe('0000-01-01 00:09:21')
  expect(at('9999-12-31T22:59:58Z')).toBe('9999-12-31 23:59:58')
  expect(at('9999-12-31T23:59:59Z')).toBe('9999-12-31 23:59:59')
  expect(formatParis(null)).toBe('')
})

test('every second of two centuries is shown as the calendar of the runtime shows it', () => {
  const calendar = new Intl.DateTimeFormat('sv-SE', {
    timeZone: 'Europe/Paris',
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  const [from, to] = ['1900-01-01T00:00:00Z', '2100-01-01T00:00:00Z'].map((instant) => Date.parse(instant) / 1000)
  fc.assert(
    fc.property(fc.integer({ min: from!, max: to! }), (seconds) => {
      expect(formatParis(seconds)).toBe(calendar.format(seconds * 1000))
    }),
    { numRuns: 2_000 },
  )
})

test.each([
  ['in winter', '2026-01-31 13:00:00', '2026-01-31T12:00:00Z'],
  ['in summer', '2026-07-14 00:30:00', '2026-07-13T22:30:00Z'],
  ['before the clocks go forward', '2026-03-29 01:59:59', '2026-03-29T00:59:59Z'],
  ['after the clocks went forward', '2026-03-29 03:00:00', '2026-03-29T01:00:00Z'],
  ['that was skipped', '2026-03-29 02:30:00', '2026-03-29T01:30:00Z'],
  ['that occurs twice, as the earlier one', '2026-10-25 02:30:00', '2026-10-25T00:30:00Z'],
  ['after the hour that occurs twice', '2026-10-25 03:00:00', '2026-10-25T02:00:00Z'],
  ['on a leap day', '2024-02-29 12:00:00', '2024-02-29T11:00:00Z'],
  ['of the first second', '0000-01-01 00:09:21', '0000-01-01T00:00:00Z'],
])('a local time %s is read', (_, local, instant) => {
  expect(formatInstant(parseParis(local)!)).toBe(instant)
})

test.each([
  ...['', '2026-01-31', '2026-02-30 12:00:00', '2026-01-31 25:00:00', '2026-01-31T12:00:00Z', 'x'],
  '0000-01-01 00:00:00',
])('%j is not a local time with an instant', (text) => {
  expect(parseParis(text)).toBeUndefined()
})

test('every shown second of two centuries is read back as that second, or as the earlier one that looks the same', () => {
  const [from, to] = ['1900-01-01T00:00:00Z', '2100-01-01T00:00:00Z'].map((instant) => Date.parse(instant) / 1000)
  fc.assert(
    fc.property(fc.integer({ min: from!, max: to! }), (seconds) => {
      const local = formatParis(seconds)
      const read = parseParis(local)!
      expect(formatParis(read)).toBe(local)
      expect(read).toBeLessThanOrEqual(seconds)
    }),
    { numRuns: 2_000 },
  )
})
