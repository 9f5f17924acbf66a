import { ErrorBoundary } from 'preact-iso/lazy'
import { LocationProvider, useLocation } from 'preact-iso/router'
import { forgetAnswers } from './answers.js'
import { LanguageProvider, useLanguage } from './i18n/language.js'
import { Header } from './parts/Header.js'
import { SignIn } from './parts/SignIn.js'
import { Failure, Skeleton } from './parts/States.js'
import { Routes } from './routes.js'
import { SessionProvider, useSession } from './session.js'

/** The addresses that are the page's own: a link to any other leaves it. */
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

/** The page of the address; the form in its place for who is not signed in, so that signing in leads back to it. */
function Content() {
  const { path } = useLocation()
  const { state, error, refresh } = useSession()
  if (state === 'out') return <SignIn isHome={path === '/'} />
  if (state === 'failed' && error) return <Failure error={error} onRetry={() => void refresh()} />
  // A page would ask for what it shows, and be refused, before it is known that nobody is signed in.
  if (state === 'unknown') return <Skeleton rows={8} />
  return (
    <ErrorBoundary>
      <Routes />
    </ErrorBoundary>
  )
}
