import { useAddress } from '../../address.js'
import { usePage } from '../../answers.js'
import { codeOf } from '../../api.js'
import { useLanguage } from '../../i18n/language.js'
import { Title } from '../../parts/Title.js'
import { useSession } from '../../session.js'
import { Filters } from './Filters.js'
import { Jump } from './Jump.js'
import { partOf } from './part.js'
import { Ranking } from './Ranking.js'
import { Rules } from './Rules.js'
import { Scores } from './Scores.js'

export default function Classement() {
  const { words, number } = useLanguage()
  const { compte } = useSession()
  const { query, hrefWith } = useAddress()
  const own = usePage(
    '/classement',
    compte ? { query: { ...partOf(query), autour_de: compte.id_auteur, limite: 1 } } : null,
  )
  const mine = own.answer?.rows[0]
  const hasNoPlace = own.error !== undefined && codeOf(own.error) === 'resource_not_found'

  return (
    <>
      <Title text={words.classement.title} />
      <Rules />
      <div class="with-aside">
        <div class="aside">
          <Filters />
          <div class="card mine">
            <p>
              {mine && words.classement.mine(number(mine.place), number(Number(mine.score)))}
              {hasNoPlace && words.classement.notMine}
            </p>
            {compte && (
              <a
                class="button"
                href={hrefWith({ auteur: compte.id_auteur, debut: undefined })}
                aria-disabled={hasNoPlace ? 'true' : undefined}
              >
                {words.classement.findMe}
              </a>
            )}
            <Jump />
          </div>
        </div>
        <Ranking />
        <div class="aside">
          <Scores ownScore={mine && Number(mine.score)} />
        </div>
      </div>
    </>
  )
}
