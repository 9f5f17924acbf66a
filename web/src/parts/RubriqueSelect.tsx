import { rubriqueOf, useAddress } from '../address.js'
import { useAnswer } from '../answers.js'
import { useLanguage } from '../i18n/language.js'
import { Select } from './Field.js'

/** Selects the category in the URL. A category that the portal does not have is shown by its number. */
export function RubriqueSelect({ label, onChange }: { label: string; onChange(id: string): void }) {
  const { words } = useLanguage()
  const chosen = rubriqueOf(useAddress().query) ?? ''
  const { answer = [] } = useAnswer('/rubriques', {})
  const known = answer.map(({ id_rubrique, nom }) => ({ value: String(id_rubrique), text: nom }))
  const isKnown = chosen === '' || known.some(({ value }) => value === chosen)
  const other = isKnown ? [] : [{ value: chosen, text: words.auteur.categoryNumber(Number(chosen)) }]
  return (
    <Select
      label={label}
      value={chosen}
      options={[{ value: '', text: words.filters.all }, ...known, ...other]}
      onChange={onChange}
    />
  )
}
