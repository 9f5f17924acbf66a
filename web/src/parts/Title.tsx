import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'

/** The last shown page. Navigation moves the focus to the new heading; the first page leaves the focus alone. */
let shown: string | undefined

interface TitleProps {
  text: string
  /** Language of the text, if it is the portal's. */
  lang?: string | undefined
  /** False while `text` is a placeholder. */
  isReady?: boolean
  /** Distinguishes headings at the same path. */
  kind?: string
  children?: ComponentChildren
}

/** The heading of a page, and the window title. */
export function Title({ text, lang, isReady = true, kind = '', children }: TitleProps) {
  // The route, not the location: during navigation the outgoing page must not take the focus.
  const { path = '' } = useRoute()
  const heading = useRef<HTMLHeadingElement>(null)
  const place = path + kind

  useEffect(() => {
    document.title = `${text} · Palmarès`
  }, [text])

  useEffect(() => {
    if (!isReady || shown === place) return
    if (shown !== undefined) heading.current?.focus({ preventScroll: true })
    shown = place
  }, [isReady, place])

  return (
    <div class="title">
      <h1 ref={heading} tabIndex={-1} lang={lang}>
        {text}
      </h1>
      {children}
    </div>
  )
}
