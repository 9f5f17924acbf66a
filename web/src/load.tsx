import { PalmaresNetworkError } from '@palmares/client'
import type { ComponentType } from 'preact'
import lazy from 'preact-iso/lazy'
import { Failure } from './parts/States.js'
import { Title } from './parts/Title.js'
import { keep, recall } from './storage.js'

const RELOADED_AS = 'palmares.reloaded'

interface Module {
  /** What the router gives every page; an id where its address has one. */
  default: ComponentType<{ params: { id: string } }>
}

/**
 * A page whose code comes when it is first shown. Code that does not come is most often that of a server since upgraded,
 * whose files have other names: the shell is loaded anew, once for an address, then the reader is told and decides.
 */
export function load(bring: () => Promise<Module>) {
  return lazy(() => bring().then(arrived, reloadOnce))
}

function arrived(module: Module): Module {
  if (recall('sessionStorage', RELOADED_AS) === location.pathname) keep('sessionStorage', RELOADED_AS, null)
  return module
}

function reloadOnce(error: unknown): Module | Promise<Module> {
  const wasReloaded = recall('sessionStorage', RELOADED_AS) === location.pathname
  // Offline, the browser would put a page of its own in place of this one; without the mark, it would reload for ever.
  if (wasReloaded || !navigator.onLine || !keep('sessionStorage', RELOADED_AS, location.pathname)) {
    return { default: () => <NotLoaded cause={error} /> }
  }
  location.reload()
  return new Promise(() => {})
}

/** A browser may remember that a file did not come, so trying again is loading the whole page again. */
function NotLoaded({ cause }: { cause: unknown }) {
  const error = new PalmaresNetworkError('The code of this page did not come.', { cause })
  return (
    <>
      <Title text="Palmarès" />
      <Failure error={error} onRetry={() => location.reload()} />
    </>
  )
}
