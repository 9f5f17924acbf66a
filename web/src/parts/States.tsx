import { PalmaresError } from '@palmares/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Asking } from '../answers.js'
import { codeOf, type Failed, statusOf, waitSecondsOf } from '../api.js'
import { useLanguage } from '../i18n/language.js'

interface LoadedProps<T> {
  asking: Asking<T>
  skeleton: ComponentChildren
  children(answer: T): ComponentChildren
}

/** Renders the answer, a skeleton while it loads, or the error. */
export function Loaded<T>({ asking: { answer, error, isStale, retry }, skeleton, children }: LoadedProps<T>) {
  if (error) return <Failure error={error} onRetry={retry} />
  if (!answer) return <>{skeleton}</>
  return (
    <div class={isStale ? 'loaded stale' : 'loaded'} aria-busy={isStale}>
      {children(answer)}
    </div>
  )
}

/** Placeholder rows with the height of real ones, so that the layout does not shift. */
export function Skeleton({ rows }: { rows: number }) {
  const { words } = useLanguage()
  return (
    <div class="skeleton" aria-busy="true">
      <p class="unseen" role="status">
        {words.states.loading}
      </p>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} class="skeleton-row" />
      ))}
    </div>
  )
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>
}

/** Offers a retry only if it can succeed, and only after the delay that the server asks for. */
export function Failure({ error, onRetry }: { error: Failed; onRetry(): void }) {
  const { words } = useLanguage()
  const status = statusOf(error)
  const canRetry = status === 0 || status === 429 || status >= 500
  return (
    <div class="failure" role="alert">
      <p class="failure-title">{words.states.failed}</p>
      <ErrorText error={error} />
      {canRetry && <RetryButton key={error.message} seconds={waitSecondsOf(error)} onRetry={onRetry} />}
    </div>
  )
}

/** The error in the reader's language. Adds the server's own text for an invalid value or an unknown code. */
export function ErrorText({ error }: { error: Failed }) {
  const { words } = useLanguage()
  const code = codeOf(error)
  const saysMore = error instanceof PalmaresError && (!(code in words.errors) || error.status === 400)
  return (
    <p>
      {words.errors[code] ?? words.errors.other} {saysMore && <span lang="en">{error.detail}</span>}
    </p>
  )
}

function RetryButton({ seconds, onRetry }: { seconds: number; onRetry(): void }) {
  const { words, number } = useLanguage()
  const left = useCountdown(seconds)
  return (
    <button type="button" disabled={left > 0} onClick={onRetry}>
      {left > 0 ? words.states.retryIn(number(left)) : words.states.retry}
    </button>
  )
}

/** Counts down from `seconds`, once a second. */
export function useCountdown(seconds: number): number {
  const [left, setLeft] = useState(seconds)
  useEffect(() => setLeft(seconds), [seconds])
  useEffect(() => {
    if (left <= 0) return
    const timer = setTimeout(() => setLeft(left - 1), 1000)
    return () => clearTimeout(timer)
  }, [left])
  return left
}
