import { useState } from 'preact/hooks'
import { asFailed, type Failed, portal } from '../../api.js'
import { useLanguage } from '../../i18n/language.js'
import { ErrorText } from '../../parts/States.js'
import type { CreatedKey } from '../../wire.js'

const DAY_MS = 86_400_000

export function CreateKey({ onCreated }: { onCreated(key: CreatedKey): void }) {
  const { words } = useLanguage()
  const [error, setError] = useState<Failed>()
  const [isBusy, setBusy] = useState(false)

  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (isBusy) return
    const form = event.currentTarget as HTMLFormElement
    const given = new FormData(form)
    const day = String(given.get('expiration'))
    setBusy(true)
    setError(undefined)
    try {
      const body = { nom: String(given.get('nom')).trim(), ...(day && { expiration: `${day}T23:59:59Z` }) }
      onCreated(await portal.post('/cles_api', { body }))
      form.reset()
    } catch (failed) {
      setError(asFailed(failed))
    } finally {
      setBusy(false)
    }
  }

  return (
    <form class="card create-key" aria-busy={isBusy} onSubmit={submit}>
      <h2>{words.compte.create}</h2>
      <div class="pair">
        <label class="field">
          <span>{words.compte.createName}</span>
          <input name="nom" required maxLength={100} pattern=".*\S.*" autocomplete="off" />
        </label>
        <label class="field">
          <span>{words.compte.createExpiry}</span>
          <input name="expiration" type="date" min={new Date(Date.now() + DAY_MS).toISOString().slice(0, 10)} />
        </label>
      </div>
      <div role="alert">{error && <ErrorText error={error} />}</div>
      <button type="submit" class="strong" aria-disabled={isBusy}>
        {words.compte.createSubmit}
      </button>
    </form>
  )
}
