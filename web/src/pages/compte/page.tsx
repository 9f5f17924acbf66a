import { useState } from 'preact/hooks'
import { useAnswer } from '../../answers.js'
import { useLanguage } from '../../i18n/language.js'
import { Facts } from '../../parts/Facts.js'
import { Loaded, Skeleton } from '../../parts/States.js'
import { Title } from '../../parts/Title.js'
import { useSession } from '../../session.js'
import type { Compte, CreatedKey } from '../../wire.js'
import { CreateKey } from './CreateKey.js'
import { Keys } from './Keys.js'
import { NewKey } from './NewKey.js'

export default function CompteSheet() {
  const { words } = useLanguage()
  const { compte } = useSession()
  return (
    <>
      <Title text={words.compte.title} />
      <div class="own">{compte && <Who compte={compte} />}</div>
      <h2 id="keys" tabIndex={-1}>
        {words.compte.keys}
      </h2>
      <p>{words.compte.keysText}</p>
      <KeysSection />
    </>
  )
}

function Who({ compte }: { compte: Compte }) {
  const { words } = useLanguage()
  return (
    <Facts
      facts={[
        [words.compte.login, compte.login],
        [
          words.compte.player,
          <>
            <a href={`/p/auteurs/${compte.id_auteur}`}>{compte.nom}</a>
            {compte.operateur && <span class="tag">{words.compte.operator}</span>}
          </>,
        ],
      ]}
    />
  )
}

function KeysSection() {
  const asking = useAnswer('/cles_api', {})
  const [created, setCreated] = useState<CreatedKey>()
  const add = (key: CreatedKey) => {
    setCreated(key)
    asking.retry()
  }
  return (
    <>
      {created && <NewKey created={created} onDone={() => setCreated(undefined)} />}
      <div class="keys">
        <Loaded asking={asking} skeleton={<Skeleton rows={3} />}>
          {(keys) => <Keys keys={keys} onChange={asking.retry} />}
        </Loaded>
      </div>
      <CreateKey onCreated={add} />
    </>
  )
}
