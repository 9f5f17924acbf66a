const DAY_MILLISECONDS = 86_400_000

const parts = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Europe/Paris',
  hourCycle: 'h23',
  ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' },
})

/**
 * An instant of the wire from `YYYY-MM-DD HH:MM:SS` in Paris; undefined for any other text. Of an hour that comes twice, in
 * autumn, it is the earlier; one that no clock shows, in spring, is read as if the clocks had not moved yet.
 */
export function fromParis(text: string): string | undefined {
  if (!/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text)) return undefined
  const local = Date.parse(`${text.replace(' ', 'T')}Z`)
  if (Number.isNaN(local) || !toText(local).startsWith(text.replace(' ', 'T'))) return undefined
  const before = offsetAt(local - DAY_MILLISECONDS)
  const after = offsetAt(local + DAY_MILLISECONDS)
  const offsets = [Math.max(before, after), Math.min(before, after)]
  const offset = offsets.find((each) => offsetAt(local - each) === each) ?? before
  return `${toText(local - offset).slice(0, 19)}Z`
}

/** How far the clocks of Paris are ahead, in milliseconds. */
function offsetAt(instant: number): number {
  const shown: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {}
  for (const { type, value } of parts.formatToParts(instant)) shown[type] = value
  const { year = '', month, day, hour, minute, second } = shown
  return Date.parse(`${year.padStart(4, '0')}-${month}-${day}T${hour}:${minute}:${second}Z`) - instant
}

function toText(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
