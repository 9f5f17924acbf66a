import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatInstant, nowSeconds, parseInstant } from './instant.js'

const FIRST = -62_167_219_200
const LAST = 253_402_300_799
const anySeconds = fc.integer({ min: FIRST, max: LAST })

test('every second from year 0000 to 9999 is written as YYYY-MM-DDThh:mm:ssZ and read back', () => {
  fc.assert(
    fc.property(anySeconds, (seconds) => {
      const text = formatInstant(seconds)
      expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      expect(parseInstant(text)).toBe(seconds)
    }),
    { numRuns: 2_000 },
  )
  expect([formatInstant(0), formatInstant(FIRST), formatInstant(LAST)]).toEqual([
    '1970-01-01T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
  ])
})

test('an offset is applied and a fraction is dropped, before 1970 too', () => {
  const minutes = fc.integer({ min: -1_439, max: 1_439 })
  const fraction = fc.stringMatching(/^(\.\d{1,20})?$/)
  fc.assert(
    fc.property(anySeconds, minutes, fraction, (seconds, offset, fractionText) => {
      const local = seconds + offset * 60
      fc.pre(local >= FIRST && local <= LAST)
      const two = (n: number) => String(n).padStart(2, '0')
      const size = Math.abs(offset)
      const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
      expect(parseInstant(formatInstant(local).replace('Z', fractionText + zone))).toBe(seconds)
    }),
    { numRuns: 2_000 },
  )
})

test.each([
  ['2026-01-31T12:00:00Z', 1_769_860_800],
  ['2026-01-31 12:00:00z', 1_769_860_800],
  ['2026-01-31t13:30:00.999+01:30', 1_769_860_800],
  ['2026-01-31T12:00:00-00:00', 1_769_860_800],
  ['2024-02-29T00:00:00Z', 1_709_164_800],
  ['2000-02-29T00:00:00Z', 951_782_400],
])('%s is %i', (text, seconds) => {
  expect(parseInstant(text)).toBe(seconds)
})

test.each([
  ...['', '2026', '2026-01-31', '2026-01-31T12:00:00', '2026-01-31T12:00Z', '2026-1-31T12:00:00Z', '1769860800'],
  ...['2026-02-29T00:00:00Z', '1900-02-29T00:00:00Z', '2026-04-31T00:00:00Z', '2026-13-01T00:00:00Z'],
  ...['2026-00-01T00:00:00Z', '2026-01-00T00:00:00Z', '2026-01-01T24:00:00Z', '2026-01-01T12:60:00Z'],
  ...['2026-01-01T12:00:60Z', '2026-01-01T12:00:00+24:00', '2026-01-01T12:00:00+01:60', '2026-01-01T12:00:00+0100'],
  ...['2026-01-01T12:00:00.Z', '2026-01-01T12:00:00 Z', ' 2026-01-01T12:00:00Z', '2026-01-01T12:00:00Z\n'],
  ...['+002026-01-01T12:00:00Z', '-000001-01-01T12:00:00Z', '0000-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01'],
  ...['２０26-01-01T12:00:00Z', 'Sat, 31 Jan 2026 12:00:00 GMT', 'now'],
])('%j is not an instant', (text) => {
  expect(parseInstant(text)).toBeUndefined()
})

test('parseInstant never throws, and returns whole seconds of the years 0000 to 9999 or nothing', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[Z+-].*$/)), (text) => {
      const seconds = parseInstant(text)
      if (seconds !== undefined) expect(Number.isInteger(seconds) && seconds >= FIRST && seconds <= LAST).toBe(true)
    }),
    { numRuns: 2_000 },
  )
})

test('now is a whole second', () => {
  expect(Number.isInteger(nowSeconds())).toBe(true)
})
