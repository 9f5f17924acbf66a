import { useLanguage } from '../i18n/language.js'

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
