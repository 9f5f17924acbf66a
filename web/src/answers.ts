import type { Body, ListPath, Page, ReadOptions, ReadPath, Row } from '@palmares/client'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { asFailed, type Failed, portal, statusOf } from './api.js'
import { useSession } from './session.js'

const MAX_CACHED = 60
/** Answers by request, so that going back shows the last known data at once. Every answer is still fetched again. */
const cache = new Map<string, unknown>()

export function forgetAnswers(): void {
  cache.clear()
}

/** The state of a read. While the next page of a list loads, the previous one stays visible and `isStale` is true. */
export interface Asking<T> {
  answer: T | undefined
  error: Failed | undefined
  isStale: boolean
  retry(): void
}

/**
 * Reads a body. When the path or the options change, aborts the request in flight and sends a new one. `null` sends none.
 * The signatures of the two hooks check the options, so the calls to the client below are untyped.
 */
export function useAnswer<P extends ReadPath>(path: P, options: ReadOptions<P> | null): Asking<Body<P>> {
  return useAsking(keyOf(path, options), (signal) => get(path, { ...options, signal }) as Promise<Body<P>>)
}

/** Like `useAnswer`, for one page of a list. */
export function usePage<P extends ListPath>(path: P, options: ReadOptions<P> | null): Asking<Page<Row<P>>> {
  const key = keyOf(`page of ${path}`, options)
  return useAsking(key, (signal) => page(path, { ...options, signal }) as Promise<Page<Row<P>>>)
}

type Read = (path: string, options: object) => Promise<unknown>
const get = portal.get.bind(portal) as unknown as Read
const page = portal.page.bind(portal) as unknown as Read

function keyOf(path: string, options: { path?: unknown; query?: unknown } | null): string | undefined {
  return options === null ? undefined : JSON.stringify([path, options.path, options.query])
}

interface Settled<T> {
  key: string | undefined
  answer?: T
  error?: Failed
}

function useAsking<T>(key: string | undefined, ask: (signal: AbortSignal) => Promise<T>): Asking<T> {
  const { lose } = useSession()
  const [settled, setSettled] = useState<Settled<T>>({ key: undefined })
  const [tries, setTries] = useState(0)

  useEffect(() => {
    if (key === undefined) return
    const abort = new AbortController()
    ask(abort.signal).then(
      (answer) => {
        if (abort.signal.aborted) return
        store(key, answer)
        setSettled({ key, answer })
      },
      (thrown: unknown) => {
        if (abort.signal.aborted) return
        const error = asFailed(thrown)
        if (statusOf(error) === 401) lose()
        else setSettled({ key, error })
      },
    )
    return () => abort.abort()
  }, [key, tries, lose])

  const retry = useCallback(() => {
    setSettled({ key: undefined })
    setTries((before) => before + 1)
  }, [])

  if (settled.key === key) return { answer: settled.answer, error: settled.error, isStale: false, retry }
  const known = key === undefined ? undefined : (cache.get(key) as T | undefined)
  return { answer: known ?? settled.answer, error: undefined, isStale: !known && settled.answer !== undefined, retry }
}

function store(key: string, answer: unknown): void {
  cache.delete(key)
  cache.set(key, answer)
  if (cache.size > MAX_CACHED) cache.delete(cache.keys().next().value as string)
}
