const DAY = 86_400

/** A tick of a time axis, as precise as the distance between ticks requires. */
export function timeTick(locale: string, seconds: number, step: number): string {
  return formatOf(locale, step).format(new Date(seconds * 1000))
}

function formatOf(locale: string, step: number): Intl.DateTimeFormat {
  if (step >= 360 * DAY) return new Intl.DateTimeFormat(locale, { year: 'numeric', timeZone: 'UTC' })
  if (step >= 28 * DAY) return new Intl.DateTimeFormat(locale, { month: 'short', year: '2-digit', timeZone: 'UTC' })
  if (step >= DAY) return new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' })
  // Ticks less than a day apart show live measurements, so they use the reader's time zone.
  return new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
}
