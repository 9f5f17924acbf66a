const DAY = 86_400

/** A point in time on an axis, as exact as the distance between two ticks asks for. */
export function timeTick(lang: string, seconds: number, step: number): string {
  return formatOf(lang, step).format(new Date(seconds * 1000))
}

function formatOf(lang: string, step: number): Intl.DateTimeFormat {
  if (step >= 360 * DAY) return new Intl.DateTimeFormat(lang, { year: 'numeric', timeZone: 'UTC' })
  if (step >= 28 * DAY) return new Intl.DateTimeFormat(lang, { month: 'short', year: '2-digit', timeZone: 'UTC' })
  if (step >= DAY) return new Intl.DateTimeFormat(lang, { day: 'numeric', month: 'short', timeZone: 'UTC' })
  // Less than a day apart is what was measured just now, by the reader's own clock.
  return new Intl.DateTimeFormat(lang, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
}
