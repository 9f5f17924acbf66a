import { formatInstant } from '../instant.js'

const DAY_SECONDS = 86_400
/** The last local second that four digits of a year can say. */
const LAST_SECOND = Date.parse('9999-12-31T23:59:59Z') / 1000
/** Offsets of days that were asked for lately, as few of them make up a portal's dates. */
const offsets = new Map<number, number | undefined>()
const MAX_OFFSETS = 10_000

const zone = new Intl.DateTimeFormat('en', { timeZone: 'Europe/Paris', timeZoneName: 'longOffset' })

/** An instant as `YYYY-MM-DD HH:MM:SS`, Europe/Paris local time, from seconds since 1970; an unknown one is "". */
export function formatParis(seconds: number | null): string {
  if (seconds === null) return ''
  const local = Math.min(seconds + (offsetOfDay(seconds) ?? offsetAt(seconds)), LAST_SECOND)
  return formatInstant(local).replace('T', ' ').slice(0, -1)
}

/** The offset of a whole day in UTC; undefined on a day on which it changes. */
function offsetOfDay(seconds: number): number | undefined {
  const day = Math.floor(seconds / DAY_SECONDS)
  if (offsets.has(day)) return offsets.get(day)
  const [first, last] = [offsetAt(day * DAY_SECONDS), offsetAt((day + 1) * DAY_SECONDS - 1)]
  const offset = first === last ? first : undefined
  if (offsets.size >= MAX_OFFSETS) offsets.clear()
  offsets.set(day, offset)
  return offset
}

/** Seconds east of UTC, as `GMT+01:00` or, before 1911, `GMT+00:09:21` tells them. */
function offsetAt(seconds: number): number {
  const text = zone.formatToParts(seconds * 1000).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours = 0, minutes = 0, rest = 0] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(text) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(rest))
}
