import { useEffect, useId, useRef, useState } from 'preact/hooks'

const TYPING_PAUSE_MS = 200
/** The API's limit for the text of a filter. */
const MAX_CHARACTERS = 100

interface SelectProps {
  label: string
  value: string
  options: { value: string; text: string; lang?: string }[]
  isDisabled?: boolean
  onChange(value: string): void
}

export function Select({ label, value, options, isDisabled = false, onChange }: SelectProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} disabled={isDisabled} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {option.text}
          </option>
        ))}
      </select>
    </label>
  )
}

interface SearchFieldProps {
  label: string
  value: string
  isNumber?: boolean
  /** Offered as completions. */
  suggestions?: string[]
  /** Called after a pause in typing. */
  onSearch(value: string): void
}

export function SearchField({ label, value, isNumber = false, suggestions, onSearch }: SearchFieldProps) {
  const [typed, setTyped] = useState(value)
  const reported = useRef(value)
  const report = useRef(onSearch)
  report.current = onSearch

  // The value changed, but not by typing: the reader went back or cleared the filters.
  useEffect(() => {
    if (value === reported.current) return
    reported.current = value
    setTyped(value)
  }, [value])

  useEffect(() => {
    const wanted = typed.trim()
    if (wanted === reported.current) return
    const timer = setTimeout(() => {
      reported.current = wanted
      report.current(wanted)
    }, TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed])

  const listId = useId()
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type={isNumber ? 'text' : 'search'}
        inputMode={isNumber ? 'numeric' : 'search'}
        pattern={isNumber ? '[0-9]*' : undefined}
        maxLength={MAX_CHARACTERS}
        value={typed}
        list={suggestions && listId}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      {suggestions && (
        <datalist id={listId}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </label>
  )
}
