import { langOf } from '../../parts/lang.js'
import type { Challenge } from '../../wire.js'

/** The same challenge in its other languages. */
export function Translations({ challenge: { id_challenge, traductions } }: { challenge: Challenge }) {
  return (
    <span class="translations">
      {traductions.map((translation) => (
        <a
          key={translation.id_challenge}
          href={`/p/challenges/${translation.id_challenge}`}
          hreflang={langOf(translation.lang)}
          aria-current={translation.id_challenge === id_challenge ? 'true' : undefined}
        >
          {translation.lang || translation.id_challenge}
        </a>
      ))}
    </span>
  )
}
