import { useLanguage } from '../i18n/language.js'

const HOUR_MS = 3_600_000

/** A time with a precision of one hour; `instant` is the start of that hour. */
export function Hour({ instant }: { instant: string }) {
  const { words, day, number } = useLanguage()
  const start = new Date(instant)
  const [from, to] = [start.getUTCHours(), start.getUTCHours() + 1].map(number) as [string, string]
  const shown = `${day(instant)}, ${words.states.hours(from, to)}`
  return (
    <time dateTime={instant} title={`${shown} UTC`}>
      {Date.now() - start.getTime() < HOUR_MS ? words.states.lastHour : shown}
    </time>
  )
}

/** A timestamp of the API shown as a day; the full time is in the tooltip and in `datetime`. */
export function Time({ instant, withTime = false }: { instant: string | null; withTime?: boolean }) {
  const { words, day, dayAndTime } = useLanguage()
  if (instant === null) return <span class="faint">{words.states.unknown}</span>
  return (
    <time dateTime={instant} title={`${dayAndTime(instant)} UTC`}>
      {withTime ? dayAndTime(instant) : day(instant)}
    </time>
  )
}
