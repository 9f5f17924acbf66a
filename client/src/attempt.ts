import { PalmaresNetworkError, PalmaresTimeoutError } from './errors.js'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** A request as it can be sent again and again. */
export interface Outgoing {
  /** Its method and path, for messages. */
  what: string
  url: string
  method: string
  headers: Headers
  body: string | undefined
  credentials: 'omit' | 'same-origin'
}

/** An answer that came whole. */
export interface Answer {
  status: number
  headers: Headers
  text: string
}

/**
 * Sends a request once and reads the whole answer. Redirects are not followed: the key is for one server. Throws
 * `PalmaresTimeoutError` or `PalmaresNetworkError`, or the signal's reason once that is aborted.
 */
export async function attempt(
  fetch: Fetch,
  { what, url, method, headers, body, credentials }: Outgoing,
  timeoutMilliseconds: number,
  signal: AbortSignal,
): Promise<Answer> {
  const { controller, unlink } = linked([signal])
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    controller.abort()
  }, timeoutMilliseconds)
  try {
    const init: RequestInit = { method, headers, credentials, redirect: 'manual', signal: controller.signal }
    if (body !== undefined) init.body = body
    const response = await fetch(url, init)
    return { status: response.status, headers: response.headers, text: await response.text() }
  } catch (cause) {
    signal.throwIfAborted()
    if (timedOut) throw new PalmaresTimeoutError(`${what} had no whole answer in ${timeoutMilliseconds} ms.`, { cause })
    throw new PalmaresNetworkError(`${what} had no whole answer: the connection failed.`, { cause })
  } finally {
    clearTimeout(timer)
    unlink()
  }
}

/** A controller that is aborted with any of the signals, until it is unlinked: a signal may outlive many requests. */
export function linked(signals: readonly (AbortSignal | undefined)[]): {
  controller: AbortController
  unlink(): void
} {
  const controller = new AbortController()
  const links = signals
    .filter((signal) => signal !== undefined)
    .map((signal) => ({ signal, pass: () => controller.abort(signal.reason) }))
  for (const { signal, pass } of links) {
    if (signal.aborted) pass()
    else signal.addEventListener('abort', pass, { once: true })
  }
  return {
    controller,
    unlink() {
      for (const { signal, pass } of links) signal.removeEventListener('abort', pass)
    },
  }
}
