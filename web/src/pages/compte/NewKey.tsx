import { useEffect, useRef } from 'preact/hooks'
import { useLanguage } from '../../i18n/language.js'
import { CopyLine } from '../../parts/CopyLine.js'
import type { CreatedKey } from '../../wire.js'

/** Shows a new key, once, with example code that uses it. */
export function NewKey({ created, onDone }: { created: CreatedKey; onDone(): void }) {
  const { words } = useLanguage()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [created.id])
  const { origin } = location
  const curl = `curl -H "Authorization: Bearer ${created.api_key}" '${origin}/classement'`
  const sdk = `import { Palmares } from '@palmares/client'
const portal = new Palmares({ baseUrl: '${origin}', apiKey: '${created.api_key}' })
const { rows } = await portal.page('/classement')`
  return (
    <section class="card new-key">
      <h2 ref={heading} tabIndex={-1}>
        {words.compte.created(created.nom)}
      </h2>
      <p>{words.compte.createdText}</p>
      <CopyLine label={words.compte.key} text={created.api_key} />
      <CopyLine label={words.compte.curl} text={curl} />
      <CopyLine label={words.compte.sdk} text={sdk} />
      <button type="button" onClick={onDone}>
        {words.compte.done}
      </button>
    </section>
  )
}
