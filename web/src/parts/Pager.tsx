import { useAddress } from '../address.js'
import { useLanguage } from '../i18n/language.js'

/** Rows per page, in every list. */
export const PAGE_ROWS = 50

interface PagerProps {
  /** The element to scroll to and focus after a page change. */
  listId: string
  start: number
  rows: number
  total: number | undefined
  next: number | undefined
}

/** Links to the other pages of a list; each page has its own URL. */
export function Pager({ listId, start, rows, total, next }: PagerProps) {
  const { words, number } = useLanguage()
  const { hrefWith } = useAddress()
  const last = total === undefined ? undefined : Math.floor(Math.max(0, total - 1) / PAGE_ROWS) * PAGE_ROWS
  if (start === 0 && next === undefined) return null

  const link = (text: string, to: number | undefined) =>
    to === undefined ? (
      <span aria-hidden="true">{text}</span>
    ) : (
      <a href={hrefWith({ debut: to || undefined, auteur: undefined })} onClick={() => toTopOf(listId)}>
        {text}
      </a>
    )
  const isPast = rows === 0
  return (
    <nav class="pager" aria-label={words.pager.label}>
      {link(words.pager.first, start > 0 ? 0 : undefined)}
      {link(words.pager.previous, start > 0 ? (isPast ? (last ?? 0) : Math.max(0, start - PAGE_ROWS)) : undefined)}
      <span class="pager-range">
        {isPast
          ? ''
          : total === undefined
            ? words.pager.openRange(number(start + 1), number(start + rows))
            : words.pager.range(number(start + 1), number(start + rows), number(total))}
      </span>
      {link(words.pager.next, next)}
      {link(words.pager.last, next === undefined || last === undefined || last <= start ? undefined : last)}
    </nav>
  )
}

function toTopOf(listId: string): void {
  const list = document.getElementById(listId)
  list?.focus({ preventScroll: true })
  list?.scrollIntoView()
}
