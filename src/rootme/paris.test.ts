import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatParis } from './paris.js'

const at = (instant: string) => formatParis(Date.parse(instant) / 1000)

test('an instant is told in the local time of Paris, with its summers', () => {
  expect(at('2026-01-31T12:00:00Z')).toBe('2026-01-31 13:00:00')
  expect(at('2026-07-31T23:30:00Z')).toBe('2026-08-01 01:30:00')
  expect(at('2025-12-31T23:00:00Z')).toBe('2026-01-01 00:00:00')
})

test('the clock is put forward and back at the second', () => {
  expect(at('2026-03-29T00:59:59Z')).toBe('2026-03-29 01:59:59')
  expect(at('2026-03-29T01:00:00Z')).toBe('2026-03-29 03:00:00')
  expect(at('2026-10-25T00:59:59Z')).toBe('2026-10-25 02:59:59')
  expect(at('2026-10-25T01:00:00Z')).toBe('2026-10-25 02:00:00')
})

test('what a store can hold at most has four digits of year, and an unknown date no text', () => {
  expect(at('0000-01-01T00:00:00Z')).toBe('0000-01-01 00:09:21')
  expect(at('9999-12-31T22:59:58Z')).toBe('9999-12-31 23:59:58')
  expect(at('9999-12-31T23:59:59Z')).toBe('9999-12-31 23:59:59')
  expect(formatParis(null)).toBe('')
})

test('any second of two centuries is told as the calendar of the runtime tells it', () => {
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
