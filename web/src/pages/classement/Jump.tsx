import { useAddress } from '../../address.js'
import { useLanguage } from '../../i18n/language.js'

/** The row of a place is the place less one; where a tie skips the place, that row is of the tie. */
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
