import { useAddress } from '../../address.js'
import { useLanguage } from '../../i18n/language.js'

/** Goes to row `place - 1`. If a tie skips that place, the row belongs to the tie. */
export function Jump() {
  const { words } = useLanguage()
  const { change } = useAddress()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const place = Number(new FormData(event.currentTarget as HTMLFormElement).get('place'))
    if (Number.isSafeInteger(place) && place > 0) change({ debut: place - 1 || undefined, auteur: undefined })
  }
  return (
    <form class="jump" onSubmit={submit}>
      <label class="field">
        <span>{words.classement.jump}</span>
        <input name="place" type="number" min={1} step={1} required inputMode="numeric" />
      </label>
      <button type="submit">{words.classement.go}</button>
    </form>
  )
}
