import { useRef, useState } from 'preact/hooks'
import { useLanguage } from '../i18n/language.js'

const TOLD_FOR_MS = 4000

/** A text to take away. Where the browser lets no script copy, it is selected for the reader. */
export function CopyLine({ label, text }: { label: string; text: string }) {
  const { words } = useLanguage()
  const shown = useRef<HTMLElement>(null)
  const [told, tell] = useState('')

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      tell(words.copy.copied)
    } catch {
      if (shown.current) getSelection()?.selectAllChildren(shown.current)
      tell(words.copy.failed)
    }
    setTimeout(() => tell(''), TOLD_FOR_MS)
  }

  return (
    <div class="copy-line">
      <span class="copy-label">{label}</span>
      <pre>
        <code ref={shown}>{text}</code>
      </pre>
      <button type="button" aria-label={`${words.copy.copy} (${label})`} onClick={() => void copy()}>
        {words.copy.copy}
      </button>
      <span class="copy-told" role="status">
        {told}
      </span>
    </div>
  )
}
