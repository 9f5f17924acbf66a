import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'

/** What was last shown: who comes from elsewhere is taken to the new heading, who just arrived is left alone. */
let shown: string | undefined

interface TitleProps {
  text: string
  /** Language of the text, where it is the portal's. */
  lang?: string | undefined
  /** False while the text is not the final one. */
  isReady?: boolean
  /** What tells this heading from another at the same address. */
  kind?: string
  children?: ComponentChildren
}

/** The heading of a page, and the name of its window. */
export function Title({ text, lang, isReady = true, kind = '', children }: TitleProps) {
  // Not the location: a page that is about to go must not take the focus of the one that comes.
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
