import { useAnswer } from '../../answers.js'
import { useLanguage } from '../../i18n/language.js'
import { Facts } from '../../parts/Facts.js'
import { Loaded, Skeleton } from '../../parts/States.js'
import { Title } from '../../parts/Title.js'
import type { Auteur } from '../../wire.js'
import { Categories } from './Categories.js'
import { Progression } from './Progression.js'
import { Solved } from './Solved.js'

export default function AuteurRoute({ params }: { params: { id: string } }) {
  return <AuteurSheet key={params.id} id={params.id} />
}

function AuteurSheet({ id }: { id: string }) {
  const { words } = useLanguage()
  const asking = useAnswer('/auteurs/{id_auteur}', { path: { id_auteur: id } })
  const { answer, error } = asking
  return (
    <>
      <Title text={answer?.nom ?? words.auteur.title} isReady={Boolean(answer ?? error)}>
        <a href="/p/auteurs">{words.auteur.back}</a>
      </Title>
      <Loaded asking={asking} skeleton={<Skeleton rows={14} />}>
        {(auteur) => <Profile auteur={auteur} />}
      </Loaded>
    </>
  )
}

function Profile({ auteur }: { auteur: Auteur }) {
  const { words, number } = useLanguage()
  const { id_auteur, score, position, statut, lang, nb_validations, validations, challenges, groupe } = auteur
  return (
    <>
      <Facts
        facts={[
          [words.auteur.score, number(score)],
          [
            words.auteur.place,
            <a href={`/p/classement?auteur=${id_auteur}`} title={words.auteur.inRanking}>
              {number(position)}
              <span class="unseen">, {words.auteur.inRanking}</span>
            </a>,
          ],
          [words.auteur.solves, number(nb_validations)],
          [words.auteur.statut, statut],
          [words.auteur.lang, lang],
          [
            words.groupes.label,
            groupe && (
              <a href={`/p/classement?groupe=${encodeURIComponent(groupe)}`} title={words.groupes.ranking}>
                {groupe}
                <span class="unseen">, {words.groupes.ranking}</span>
              </a>
            ),
          ],
        ]}
      />
      {validations.length > 0 && (
        <div class="columns">
          <Progression id={id_auteur} />
          <Categories validations={validations} />
        </div>
      )}
      {challenges.length > 0 && (
        <>
          <h2>
            {words.auteur.written} ({number(challenges.length)})
          </h2>
          <ul class="names">
            {challenges.map(({ id_challenge, titre }) => (
              <li key={id_challenge}>
                <a href={`/p/challenges/${id_challenge}`}>{titre}</a>
              </li>
            ))}
          </ul>
        </>
      )}
      <h2>{words.auteur.solved}</h2>
      <Solved validations={validations} />
    </>
  )
}
