import { useState } from 'preact/hooks'
import { asFailed, type Failed, portal, waitSecondsOf } from '../api.js'
import { useLanguage } from '../i18n/language.js'
import { useSession } from '../session.js'
import { ErrorText, useCountdown } from './States.js'
import { Title } from './Title.js'

/** The sign-in form, shown in place of a page that requires a session. */
export function SignIn({ isHome }: { isHome: boolean }) {
  const { words } = useLanguage()
  return (
    <div class="welcome">
      <Title text={isHome ? words.welcome.title : words.signIn.title} kind="#sign-in" />
      <p>{isHome ? words.welcome.text : words.signIn.needed}</p>
      <SignInForm />
    </div>
  )
}

function SignInForm() {
  const { words, number } = useLanguage()
  const { refresh } = useSession()
  const [error, setError] = useState<Failed>()
  const [isBusy, setBusy] = useState(false)
  const [isShown, setShown] = useState(false)
  const left = useCountdown(waitSecondsOf(error))

  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (isBusy || left > 0) return
    const given = new FormData(event.currentTarget as HTMLFormElement)
    setBusy(true)
    setError(undefined)
    try {
      const body = { login: String(given.get('login')), password: String(given.get('password')) }
      await portal.post('/login', { body })
      await refresh()
    } catch (failed) {
      setError(asFailed(failed))
      setBusy(false)
    }
  }

  return (
    <form class="card sign-in" method="post" action="/login" aria-busy={isBusy} onSubmit={submit}>
      <label class="field">
        <span>{words.signIn.login}</span>
        <input name="login" required maxLength={100} autocomplete="username" autocapitalize="none" spellcheck={false} />
      </label>
      <label class="field">
        <span>{words.signIn.password}</span>
        <input
          name="password"
          required
          type={(isShown ? 'text' : 'password') as 'password'}
          autocomplete="current-password"
        />
      </label>
      <label class="check">
        <input type="checkbox" checked={isShown} onChange={() => setShown(!isShown)} />
        {words.signIn.show}
      </label>
      <div class="sign-in-error" role="alert">
        {error && <ErrorText error={error} />}
      </div>
      <button type="submit" class="strong" aria-disabled={isBusy || left > 0}>
        {isBusy ? words.signIn.busy : left > 0 ? words.states.retryIn(number(left)) : words.signIn.submit}
      </button>
    </form>
  )
}
