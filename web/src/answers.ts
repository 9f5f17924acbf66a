import { useCallback, useEffect, useState } from 'preact/hooks'
import { type Answer, ApiError, type Asked, addressOf, get } from './api.js'
import { useSession } from './session.js'
import type { Reads } from './wire.js'

const MAX_HELD = 60
/** Answers by address, so that going back shows at once what was there; each is asked for again all the same. */
const held = new Map<string, Answer<unknown>>()

export function forgetAnswers(): void {
  held.clear()
}

/** A read on its way. While another page of the same list is loading, the one before it stays, as `isStale`. */
export interface Asking<T> {
  answer: Answer<T> | undefined
  error: ApiError | undefined
  isStale: boolean
  retry(): void
}

interface Settled<T> {
  address: string | undefined
  answer?: Answer<T>
  error?: ApiError
}

/** Asks, and asks again when the address changes; the earlier request is then given up. `null` asks nothing. */
export function useAnswer<P extends keyof Reads>(path: P, asked: Asked | null): Asking<Reads[P]> {
  const { lose } = useSession()
  const [settled, setSettled] = useState<Settled<Reads[P]>>({ address: undefined })
  const [tries, setTries] = useState(0)
  const address = asked === null ? undefined : addressOf(path, asked)

  useEffect(() => {
    if (asked === null || address === undefined) return
    const abort = new AbortController()
    get(path, asked, abort.signal).then(
      (answer) => {
        hold(address, answer)
        setSettled({ address, answer })
      },
      (error: unknown) => {
        if (abort.signal.aborted) return
        if (!(error instanceof ApiError)) throw error
        if (error.status === 401) lose()
        else setSettled({ address, error })
      },
    )
    return () => abort.abort()
  }, [address, tries, lose])

  const retry = useCallback(() => {
    setSettled({ address: undefined })
    setTries((before) => before + 1)
  }, [])

  if (settled.address === address) {
    return { answer: settled.answer, error: settled.error, isStale: false, retry }
  }
  const known = address === undefined ? undefined : (held.get(address) as Answer<Reads[P]> | undefined)
  return { answer: known ?? settled.answer, error: undefined, isStale: !known && settled.answer !== undefined, retry }
}

function hold(address: string, answer: Answer<unknown>): void {
  held.delete(address)
  held.set(address, answer)
  if (held.size > MAX_HELD) held.delete(held.keys().next().value as string)
}
