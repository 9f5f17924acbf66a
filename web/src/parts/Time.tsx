import { useLanguage } from '../i18n/language.js'

const HOUR_MS = 3_600_000

/** An instant that is known to the hour: the hour that begins then. */
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

/** An instant of the wire as a day, its time on hover and for programs. */
export function Time({ instant, withTime = false }: { instant: string | null; withTime?: boolean }) {
  const { words, day, dayAndTime } = useLanguage()
  if (instant === null) return <span class="faint">{words.states.unknown}</span>
  return (
    <time dateTime={instant} title={`${dayAndTime(instant)} UTC`}>
      {withTime ? dayAndTime(instant) : day(instant)}
    </time>
  )
}
