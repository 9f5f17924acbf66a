import { DAY_SECONDS, FIRST_SECOND, formatInstant, LAST_SECOND, parseInstant } from './instant.js'

/** Offsets of days that were asked for lately, as few of them make up a portal's dates. */
const offsets = new Map<number, number | undefined>()
const MAX_OFFSETS = 10_000

const zone = new Intl.DateTimeFormat('en', { timeZone: 'Europe/Paris', timeZoneName: 'longOffset' })

/** An instant as `YYYY-MM-DD HH:MM:SS`, Europe/Paris local time, from seconds since 1970; an unknown one is "". */
export function formatParis(seconds: number | null): string {
  if (seconds === null) return ''
  const local = Math.min(seconds + offsetAt(seconds), LAST_SECOND)
  return formatInstant(local).replace('T', ' ').slice(0, -1)
}

/**
 * Seconds since 1970 of `YYYY-MM-DD HH:MM:SS` in Paris; undefined for any other text. Of an hour that comes twice, in autumn,
 * it is the earlier; one that no clock shows, in spring, is read as if the clocks had not moved yet.
 */
export function parseParis(text: string): number | undefined {
  const local = LOCAL.test(text) ? parseInstant(`${text}Z`) : undefined
  if (local === undefined) return undefined
  const before = offsetAt(local - DAY_SECONDS)
  const after = offsetAt(local + DAY_SECONDS)
  const candidates = [Math.max(before, after), Math.min(before, after)]
  const seconds = local - (candidates.find((offset) => offsetAt(local - offset) === offset) ?? before)
  return seconds < FIRST_SECOND ? undefined : seconds
}

const LOCAL = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/

/** Seconds east of UTC at an instant. */
function offsetAt(seconds: number): number {
  return offsetOfDay(Math.floor(seconds / DAY_SECONDS)) ?? readOffset(seconds)
}

/** The offset of a whole day in UTC; undefined on a day on which it changes. */
function offsetOfDay(day: number): number | undefined {
  if (offsets.has(day)) return offsets.get(day)
  const [first, last] = [readOffset(day * DAY_SECONDS), readOffset((day + 1) * DAY_SECONDS - 1)]
  const offset = first === last ? first : undefined
  if (offsets.size >= MAX_OFFSETS) offsets.clear()
  offsets.set(day, offset)
  return offset
}

/** As the runtime tells it: `GMT+01:00` or, before 1911, `GMT+00:09:21`. */
function readOffset(seconds: number): number {
  const text = zone.formatToParts(seconds * 1000).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours = 0, minutes = 0, rest = 0] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(text) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(rest))
}
