import DOMPurify, { type Config } from 'dompurify'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** Allows text markup and links. Nothing may load a resource, apply a style or ask for input. */
const RULES: Config & { RETURN_DOM_FRAGMENT: true } = {
  ALLOWED_TAGS:
    'a abbr b blockquote br cite code dd del dfn dl dt em h3 h4 h5 h6 hr i ins kbd li mark ol p pre q s samp small strong sub sup table tbody td tfoot th thead tr u ul var'.split(
      ' ',
    ),
  ALLOWED_ATTR: ['href', 'lang', 'dir', 'title'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
}

/** Shows HTML of the portal. Inserts the sanitiser's DOM nodes directly: parsing their text again could reintroduce a script. */
export function SafeHtml({ html, lang }: { html: string; lang: string | undefined }) {
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => element.current?.replaceChildren(sanitise(html)), [html])
  return <div ref={element} class="prose description" lang={lang} />
}

function sanitise(html: string): DocumentFragment {
  const clean = DOMPurify.sanitize(html, RULES)
  for (const link of clean.querySelectorAll('a')) {
    if (/^(https?:\/\/|mailto:)/i.test(link.getAttribute('href') ?? '')) {
      link.target = '_blank'
      link.rel = 'noopener noreferrer nofollow ugc'
    } else {
      // A relative URL belongs to the portal and would be broken here.
      link.replaceWith(...link.childNodes)
    }
  }
  return clean
}
