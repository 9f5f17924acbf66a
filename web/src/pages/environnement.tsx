import { useAnswer } from '../answers.js'
import { useLanguage } from '../i18n/language.js'
import { Facts } from '../parts/Facts.js'
import { Loaded, Skeleton } from '../parts/States.js'
import { Title } from '../parts/Title.js'
import type { Environnement } from '../wire.js'

export default function EnvironnementRoute({ params }: { params: { id: string } }) {
  return <EnvironnementSheet key={params.id} id={params.id} />
}

function EnvironnementSheet({ id }: { id: string }) {
  const { words } = useLanguage()
  const asking = useAnswer('/environnements_virtuels/{id_environnement_virtuel}', {
    path: { id_environnement_virtuel: id },
  })
  const { answer, error } = asking
  return (
    <>
      <Title text={answer?.nom ?? words.environnement.title} isReady={Boolean(answer ?? error)}>
        <a href="/p/environnements">{words.environnement.back}</a>
      </Title>
      <Loaded asking={asking} skeleton={<Skeleton rows={5} />}>
        {(environnement) => <Details environnement={environnement} />}
      </Loaded>
    </>
  )
}

/** Shows the description in the reader's language, or in the other if it is empty. */
function Details({ environnement }: { environnement: Environnement }) {
  const { words, lang, duration } = useLanguage()
  const { description_fr, description_en, os, statut, time_to_root } = environnement
  const isFrench = description_fr !== '' && (lang === 'fr' || description_en === '')
  const description = isFrench ? description_fr : description_en
  return (
    <>
      <Facts
        facts={[
          [words.environnements.os, os],
          [words.environnement.timeToRoot, time_to_root === null ? null : duration(time_to_root)],
          [words.environnement.statut, statut],
          [words.environnement.lang, environnement.lang],
        ]}
      />
      <h2>{words.environnement.description}</h2>
      {description === '' ? (
        <p class="faint">{words.environnement.none}</p>
      ) : (
        <div class="prose" lang={isFrench ? 'fr' : 'en'}>
          {description}
        </div>
      )}
    </>
  )
}
