import type { Page } from '@palmares/client'
import { type Asking, usePage } from '../../answers.js'
import { useLanguage } from '../../i18n/language.js'
import { Loaded, Skeleton } from '../../parts/States.js'
import { Time } from '../../parts/Time.js'
import type { Validation } from '../../wire.js'

const SHOWN = 5

interface SolversProps {
  id: string
  total: number
  /** Number of solves without a known date, which are last in the list; undefined until loaded. */
  undated: number | undefined
}

/** The first and the latest players to solve a challenge. No player is in both lists. */
export function Solvers({ id, total, undated }: SolversProps) {
  const { words } = useLanguage()
  const path = { id_challenge: id }
  const dated = undated === undefined ? undefined : total - undated
  const others = dated === undefined ? 0 : Math.max(0, dated - SHOWN)
  const nbLatest = Math.min(SHOWN, others)
  const first = usePage('/challenges/{id_challenge}/validations', { path, query: { limite: SHOWN } })
  const latest = usePage(
    '/challenges/{id_challenge}/validations',
    nbLatest > 0 ? { path, query: { limite: nbLatest, debut_validations: SHOWN + others - nbLatest } } : null,
  )
  return (
    <div>
      <section>
        <h2>{total > SHOWN ? words.challenge.first : words.challenge.solvers}</h2>
        <SolverList asking={first} />
      </section>
      {nbLatest > 0 && (
        <section>
          <h2>{words.challenge.latest}</h2>
          <SolverList asking={latest} isReversed />
        </section>
      )}
    </div>
  )
}

function SolverList({ asking, isReversed = false }: { asking: Asking<Page<Validation>>; isReversed?: boolean }) {
  return (
    <Loaded asking={asking} skeleton={<Skeleton rows={SHOWN} />}>
      {({ rows }) => (
        <ol class="solvers">
          {(isReversed ? [...rows].reverse() : rows).map(({ id_auteur, nom, date }) => (
            <li key={id_auteur}>
              <a href={`/p/auteurs/${id_auteur}`}>{nom}</a>
              <Time instant={date} withTime />
            </li>
          ))}
        </ol>
      )}
    </Loaded>
  )
}
