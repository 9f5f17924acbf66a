import { ErrorBoundary } from 'preact-iso/lazy'
import { LocationProvider, useLocation } from 'preact-iso/router'
import { forgetAnswers } from './answers.js'
import { LanguageProvider, useLanguage } from './i18n/language.js'
import { Header } from './parts/Header.js'
import { SignIn } from './parts/SignIn.js'
import { Failure, Skeleton } from './parts/States.js'
import { Routes } from './routes.js'
import { SessionProvider, useSession } from './session.js'

/** Paths that the single-page app handles. Links to other paths load a new document. */
const OWN_ADDRESSES = /^\/(p\/|\?|$)/

export function App() {
  return (
    <LanguageProvider>
      <SessionProvider onChange={forgetAnswers}>
        <LocationProvider scope={OWN_ADDRESSES}>
          <Frame />
        </LocationProvider>
      </SessionProvider>
    </LanguageProvider>
  )
}

function Frame() {
  const { words } = useLanguage()
  return (
    <>
      <a class="skip" href="#content">
        {words.shell.skip}
      </a>
      <Header />
      <main id="content" tabIndex={-1}>
        <Content />
      </main>
      <footer class="footer">
        <p>{words.shell.footer}</p>
        <a href="/docs">{words.shell.reference}</a>
      </footer>
    </>
  )
}

/** The page at the current URL. Signed-out readers see the sign-in form at the same URL, so they stay on it after signing in. */
function Content() {
  const { path } = useLocation()
  const { state, error, refresh } = useSession()
  if (state === 'out') return <SignIn isHome={path === '/'} />
  if (state === 'failed' && error) return <Failure error={error} onRetry={() => void refresh()} />
  // Until the session is known, a page would send requests that end in 401.
  if (state === 'unknown') return <Skeleton rows={8} />
  return (
    <ErrorBoundary>
      <Routes />
    </ErrorBoundary>
  )
}
