import { useAnswer } from '../../answers.js'
import { useLanguage } from '../../i18n/language.js'
import { Time } from '../../parts/Time.js'
import type { Regles } from '../../wire.js'

/** The rules of the rankings, in words. */
export function Rules() {
  const { words } = useLanguage()
  const { answer } = useAnswer('/classement/regles', {})
  const { departage, gel }: Partial<Regles> = answer ?? {}
  return (
    <p class="rules">
      {/* The line keeps its height until it is known. */}
      {departage ? words.classement.departage[departage] : '\u00a0'}
      {gel && (
        <strong>
          {words.classement[Date.parse(gel) > Date.now() ? 'freezes' : 'frozen']} <Time instant={gel} withTime /> UTC
        </strong>
      )}
    </p>
  )
}
