import { useAddress } from '../../address.js'
import { useAnswer } from '../../answers.js'
import { useLanguage } from '../../i18n/language.js'
import { Select } from '../../parts/Field.js'

/** Years that a ranking is offered for; an address may name any other. */
const YEARS = 15

/** A ranking is of one category, or of one year or month, or of everything. */
export function Filters() {
  const { words, month } = useLanguage()
  const { query, change } = useAddress()
  const rubriques = useAnswer('/rubriques', {}).answer ?? []
  const [year = '', monthNumber = ''] = query.rubrique ? [] : (query.periode ?? '').split('-')
  const show = (part: { rubrique?: string; periode?: string }) =>
    change({ rubrique: undefined, periode: undefined, debut: undefined, auteur: undefined, ...part })

  const all = { value: '', text: words.filters.all }
  const months = Array.from({ length: 12 }, (_, index) => ({
    value: String(index + 1).padStart(2, '0'),
    text: month(index + 1),
  }))
  return (
    <search class="filters card" aria-label={words.filters.label}>
      <Select
        label={words.classement.rubrique}
        value={query.rubrique ?? ''}
        options={[all, ...rubriques.map(({ id_rubrique, nom }) => ({ value: String(id_rubrique), text: nom }))]}
        onChange={(rubrique) => show({ rubrique })}
      />
      <div class="pair">
        <Select
          label={words.classement.year}
          value={year}
          options={[all, ...yearsWith(year).map((value) => ({ value, text: value }))]}
          onChange={(periode) => show({ periode })}
        />
        <Select
          label={words.classement.month}
          value={monthNumber}
          isDisabled={year === ''}
          options={[{ value: '', text: words.classement.wholeYear }, ...months]}
          onChange={(chosen) => show({ periode: chosen ? `${year}-${chosen}` : year })}
        />
      </div>
    </search>
  )
}

function yearsWith(chosen: string): string[] {
  const now = new Date().getUTCFullYear()
  const years = Array.from({ length: YEARS }, (_, index) => String(now - index))
  return chosen === '' || years.includes(chosen) ? years : [...years, chosen]
}
