import { useAddress } from '../../address.js'
import { useAnswer } from '../../answers.js'
import { useLanguage } from '../../i18n/language.js'
import { Select } from '../../parts/Field.js'
import { GroupeFilter } from '../../parts/GroupeFilter.js'
import { RubriqueSelect } from '../../parts/RubriqueSelect.js'
import { partOf } from './part.js'

/** Restricts the ranking to a category, to a year or month, or to a group; choosing one clears the others. */
export function Filters() {
  const { words, month } = useLanguage()
  const { query, change } = useAddress()
  const periodes = useAnswer('/classement/periodes', {}).answer ?? []
  const { periode = '', groupe = '' } = partOf(query)
  const [year = '', monthNumber = ''] = periode.split('-')
  const none = { id_rubrique: undefined, periode: undefined, groupe: undefined, debut: undefined, auteur: undefined }
  const show = (part: { id_rubrique?: string; periode?: string; groupe?: string }, how?: { replace: boolean }) =>
    change({ ...none, ...part }, how)

  const years = withChosen(
    periodes.map((each) => each.periode),
    year,
  )
  const months = withChosen(periodes.find((each) => each.periode === year)?.mois ?? [], monthNumber && periode)
  return (
    <search class="filters card" aria-label={words.filters.label}>
      <RubriqueSelect label={words.classement.rubrique} onChange={(id_rubrique) => show({ id_rubrique })} />
      <div class="pair">
        <Select
          label={words.classement.year}
          value={year}
          options={[{ value: '', text: words.filters.all }, ...years.map((value) => ({ value, text: value }))]}
          onChange={(chosen) => show({ periode: chosen })}
        />
        <Select
          label={words.classement.month}
          value={monthNumber && periode}
          isDisabled={year === ''}
          options={[
            { value: '', text: words.classement.wholeYear },
            ...months.map((value) => ({ value, text: month(Number(value.slice(5))) })),
          ]}
          onChange={(chosen) => show({ periode: chosen || year })}
        />
      </div>
      <GroupeFilter value={groupe} onChange={(chosen, how) => show({ groupe: chosen }, how)} />
    </search>
  )
}

/** The offered periods, plus the chosen one if the URL names a period without a ranking. */
function withChosen(offered: string[], chosen: string): string[] {
  return chosen === '' || offered.includes(chosen) ? offered : [...offered, chosen]
}
