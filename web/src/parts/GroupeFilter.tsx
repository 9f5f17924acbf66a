import { usePage } from '../answers.js'
import { useLanguage } from '../i18n/language.js'
import { SearchField, Select } from './Field.js'

/** More groups are too many for a list of options: they get a text field that suggests the first ones. */
const MAX_OPTIONS = 500

interface GroupeFilterProps {
  value: string
  onChange(groupe: string, how?: { replace: boolean }): void
}

/** Selects a group. It is absent if the portal has none. A group that the portal does not have is shown by its name. */
export function GroupeFilter({ value, onChange }: GroupeFilterProps) {
  const { words } = useLanguage()
  const { answer } = usePage('/groupes', { query: { limite: MAX_OPTIONS } })
  const names = answer?.rows.map(({ nom }) => nom) ?? []
  if (names.length === 0 && value === '') return null
  const { label, all } = words.groupes
  if (answer?.next !== undefined) {
    const search = (groupe: string) => onChange(groupe, { replace: true })
    return <SearchField label={label} value={value} suggestions={names} onSearch={search} />
  }
  const known = names.find((nom) => lowerAscii(nom) === lowerAscii(value))
  const options = known === undefined && value !== '' ? [...names, value] : names
  return (
    <Select
      label={label}
      value={known ?? value}
      options={[{ value: '', text: all }, ...options.map((nom) => ({ value: nom, text: nom }))]}
      onChange={onChange}
    />
  )
}

/** The API ignores ASCII case in the names of groups. */
function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
