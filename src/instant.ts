/** The date of a validation whose date is unknown: the year 10000, after every known one on both engines. */
export const UNKNOWN_DATE = 253_402_300_800

export const DAY_SECONDS = 86_400
/** The instants that four digits of a year can say. */
export const FIRST_SECOND = Date.parse('0000-01-01T00:00:00Z') / 1000
export const LAST_SECOND = Date.parse('9999-12-31T23:59:59Z') / 1000
/** Days that were written lately, as few of them make up a portal's dates. */
const daysWritten = new Map<number, string>()
const MAX_DAYS_WRITTEN = 10_000

/** An instant of the wire, UTC and whole seconds, from seconds since 1970. */
export function formatInstant(seconds: number): string {
  const day = Math.floor(seconds / DAY_SECONDS)
  const second = seconds - day * DAY_SECONDS
  const time = `${pair(second / 3_600)}:${pair((second / 60) % 60)}:${pair(second % 60)}`
  return `${daysWritten.get(day) ?? formatDay(day)}T${time}Z`
}

function formatDay(day: number): string {
  const text = new Date(day * DAY_SECONDS * 1000).toISOString().slice(0, 10)
  if (daysWritten.size >= MAX_DAYS_WRITTEN) daysWritten.clear()
  daysWritten.set(day, text)
  return text
}

function pair(value: number): string {
  return value < 10 ? `0${Math.floor(value)}` : String(Math.floor(value))
}

/**
 * Seconds since 1970 of an RFC 3339 date and time; a fraction is cut off, an offset is counted in. Undefined for any
 * other text, for a date that no calendar has, and outside the years 0000 to 9999.
 */
export function parseInstant(text: string): number | undefined {
  const match = RFC_3339.exec(text)
  if (!match) return undefined
  const [, date, time, sign, hours, minutes] = match
  const milliseconds = Date.parse(`${date}T${time}Z`)
  if (Number.isNaN(milliseconds) || !new Date(milliseconds).toISOString().startsWith(`${date}T${time}`))
    return undefined
  if (Number(hours ?? 0) > 23 || Number(minutes ?? 0) > 59) return undefined
  const offsetSeconds = sign ? (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60) : 0
  const seconds = milliseconds / 1000 - offsetSeconds
  return seconds >= FIRST_SECOND && seconds <= LAST_SECOND ? seconds : undefined
}

/** The year and month of an instant in UTC, as one number: 202601. */
export function monthOf(seconds: number): number {
  const date = new Date(seconds * 1000)
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1
}

/** Seconds since 1970 now. */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

const RFC_3339 = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/
