import { useAnswer } from '../../answers.js'
import { useLanguage } from '../../i18n/language.js'
import { Facts } from '../../parts/Facts.js'
import { langOf } from '../../parts/lang.js'
import { SafeHtml } from '../../parts/SafeHtml.js'
import { Loaded, Skeleton } from '../../parts/States.js'
import { Time } from '../../parts/Time.js'
import { Title } from '../../parts/Title.js'
import type { Challenge } from '../../wire.js'
import { Curve } from './Curve.js'
import { Solvers } from './Solvers.js'
import { Translations } from './Translations.js'

export default function ChallengeRoute({ params }: { params: { id: string } }) {
  return <ChallengeSheet key={params.id} id={params.id} />
}

function ChallengeSheet({ id }: { id: string }) {
  const { words } = useLanguage()
  const asking = useAnswer('/challenges/{id_challenge}', { path: { id_challenge: id } })
  const progression = useAnswer('/challenges/{id_challenge}/progression', { path: { id_challenge: id } })
  const { answer, error } = asking
  return (
    <>
      <Title
        text={answer?.titre ?? words.challenge.title}
        lang={answer && langOf(answer.lang)}
        isReady={Boolean(answer ?? error)}
      >
        <a href="/p/challenges">{words.challenge.back}</a>
      </Title>
      <Loaded asking={asking} skeleton={<Skeleton rows={12} />}>
        {(challenge) => (
          <>
            <Details challenge={challenge} />
            {challenge.nb_validations === 0 ? (
              <p class="faint">{words.challenge.nobody}</p>
            ) : (
              <div class="columns">
                <Loaded asking={progression} skeleton={<div class="skeleton-chart" aria-busy="true" />}>
                  {(curve) => <Curve progression={curve} />}
                </Loaded>
                <Solvers id={id} total={challenge.nb_validations} undated={progression.answer?.sans_date} />
              </div>
            )}
          </>
        )}
      </Loaded>
    </>
  )
}

function Details({ challenge }: { challenge: Challenge }) {
  const { words, number } = useLanguage()
  const { soustitre, auteurs, date_publication, url_challenge, descriptif } = challenge
  const lang = langOf(challenge.lang)
  return (
    <>
      {soustitre && (
        <p class="subtitle" lang={lang}>
          {soustitre}
        </p>
      )}
      <Facts
        facts={[
          [words.challenges.score, number(challenge.score)],
          [
            words.challenges.rubrique,
            <a href={`/p/challenges?id_rubrique=${challenge.id_rubrique}`}>{challenge.rubrique}</a>,
          ],
          [words.challenges.difficulte, challenge.difficulte],
          [words.challenges.solves, number(challenge.nb_validations)],
          [words.challenge.published, date_publication && <Time instant={date_publication} />],
          [
            words.challenge.authors,
            auteurs.length > 0 &&
              auteurs.map(({ id_auteur, nom }, index) => (
                <>
                  {index > 0 && ', '}
                  <a href={`/p/auteurs/${id_auteur}`}>{nom}</a>
                </>
              )),
          ],
          [words.challenge.translations, <Translations challenge={challenge} />],
        ]}
      />
      <h2>{words.challenge.description}</h2>
      {descriptif.trim() === '' ? (
        <p class="faint">{words.challenge.noDescription}</p>
      ) : (
        <SafeHtml html={descriptif} lang={lang} />
      )}
      <p class="outward">
        <a href={url_challenge} target="_blank" rel="noopener noreferrer">
          {words.challenge.onPortal} ↗
        </a>
      </p>
    </>
  )
}
