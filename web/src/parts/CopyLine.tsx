import { useRef, useState } from 'preact/hooks'
import { useLanguage } from '../i18n/language.js'

const STATUS_MS = 4000

/** A text with a copy button. If the browser refuses clipboard access, the text is selected instead. */
export function CopyLine({ label, text }: { label: string; text: string }) {
  const { words } = useLanguage()
  const shown = useRef<HTMLElement>(null)
  const [status, setStatus] = useState('')

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setStatus(words.copy.copied)
    } catch {
      if (shown.current) getSelection()?.selectAllChildren(shown.current)
      setStatus(words.copy.failed)
    }
    setTimeout(() => setStatus(''), STATUS_MS)
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
      <span class="copy-status" role="status">
        {status}
      </span>
    </div>
  )
}
