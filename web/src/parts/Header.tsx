import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import type { Failed } from '../api.js'
import { useLanguage } from '../i18n/language.js'
import { useSession } from '../session.js'
import { Laurel } from './Laurel.js'
import { ErrorText } from './States.js'

const PAGES = ['classement', 'challenges', 'auteurs', 'environnements', 'compte'] as const

export function Header() {
  const { words, lang, toggle } = useLanguage()
  const { compte, leave } = useSession()
  const [error, setError] = useState<Failed>()
  const other = lang === 'fr' ? 'en' : 'fr'
  const pages = compte?.operateur ? [...PAGES, 'exploitation' as const] : PAGES
  return (
    <header class="header">
      <a class="brand" href="/" aria-label={words.shell.home}>
        <Laurel />
        <span>Palmarès</span>
      </a>
      <nav aria-label={words.shell.nav}>
        <ul>
          {pages.map((page) => (
            <li key={page}>
              <NavLink href={`/p/${page}`}>{words.nav[page]}</NavLink>
            </li>
          ))}
        </ul>
      </nav>
      <div class="who">
        <button type="button" class={compte ? 'quiet' : 'quiet kept'} onClick={() => leave().catch(setError)}>
          {words.shell.signOut}
        </button>
        <button type="button" class="quiet" lang={other} title={words.shell.otherLanguage} onClick={toggle}>
          <span aria-hidden="true">{other.toUpperCase()}</span>
          <span class="unseen">{words.shell.otherLanguage}</span>
        </button>
      </div>
      <div class="header-error" role="alert">
        {compte && error && <ErrorText error={error} />}
      </div>
    </header>
  )
}

function NavLink({ href, children }: { href: string; children: string }) {
  const { path } = useLocation()
  const current = path === href ? 'page' : path.startsWith(`${href}/`) ? 'true' : undefined
  return (
    <a href={href} aria-current={current}>
      {children}
    </a>
  )
}
