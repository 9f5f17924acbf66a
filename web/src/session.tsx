import { type ComponentChildren, createContext } from 'preact'
import { useCallback, useContext, useEffect, useMemo, useState } from 'preact/hooks'
import { asFailed, type Failed, portal, statusOf } from './api.js'
import type { Compte } from './wire.js'

/** Who is signed in, according to the server's last answer. */
export interface Session {
  state: 'unknown' | 'in' | 'out' | 'failed'
  compte: Compte | undefined
  error: Failed | undefined
  /** Asks the server again. */
  refresh(): Promise<void>
  /** Call this when the server answers 401. */
  lose(): void
  leave(): Promise<void>
}

type Known = Pick<Session, 'state' | 'compte' | 'error'>

const unknown: Known = { state: 'unknown', compte: undefined, error: undefined }
const out: Known = { ...unknown, state: 'out' }

/** Sent before the first render, because every page waits for it. A failure is handled where it is awaited. */
const first = portal.get('/compte')
first.catch(() => {})

const Context = createContext<Session | undefined>(undefined)

export function SessionProvider({ children, onChange }: { children: ComponentChildren; onChange(): void }) {
  const [known, setKnown] = useState(unknown)

  const lose = useCallback(() => {
    onChange()
    setKnown(out)
  }, [onChange])

  const learn = useCallback(
    async (asked: Promise<Compte>) => {
      try {
        const compte = await asked
        onChange()
        setKnown({ state: 'in', compte, error: undefined })
      } catch (thrown) {
        const error = asFailed(thrown)
        if (statusOf(error) === 401) lose()
        else setKnown((before) => (before.compte ? before : { ...unknown, state: 'failed', error }))
      }
    },
    [lose, onChange],
  )
  const refresh = useCallback(() => learn(portal.get('/compte')), [learn])

  const leave = useCallback(async () => {
    await portal.delete('/login').catch((error) => {
      if (statusOf(asFailed(error)) !== 401) throw error
    })
    lose()
  }, [lose])

  useEffect(() => {
    void learn(first)
  }, [learn])

  const session = useMemo(() => ({ ...known, refresh, lose, leave }), [known, refresh, lose, leave])
  return <Context.Provider value={session}>{children}</Context.Provider>
}

export function useSession(): Session {
  const session = useContext(Context)
  if (!session) throw new Error('useSession needs a SessionProvider')
  return session
}
