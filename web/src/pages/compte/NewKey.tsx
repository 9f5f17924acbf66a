import { useEffect, useRef } from 'preact/hooks'
import { useLanguage } from '../../i18n/language.js'
import { CopyLine } from '../../parts/CopyLine.js'
import type { MadeKey } from '../../wire.js'

/** The one time that a key is seen, with the first line that a program would be. */
export function NewKey({ made, onDone }: { made: MadeKey; onDone(): void }) {
  const { words } = useLanguage()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [made.id])
  const { origin } = location
  const curl = `curl -H "Authorization: Bearer ${made.api_key}" '${origin}/classement'`
  const sdk = `import { Palmares } from '@palmares/client'
const portal = new Palmares({ baseUrl: '${origin}', apiKey: '${made.api_key}' })
const { rows } = await portal.page('/classement')`
  return (
    <section class="card new-key">
      <h2 ref={heading} tabIndex={-1}>
        {words.compte.made(made.nom)}
      </h2>
      <p>{words.compte.madeText}</p>
      <CopyLine label={words.compte.key} text={made.api_key} />
      <CopyLine label={words.compte.curl} text={curl} />
      <CopyLine label={words.compte.sdk} text={sdk} />
      <button type="button" onClick={onDone}>
        {words.compte.done}
      </button>
    </section>
  )
}
