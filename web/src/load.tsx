import { PalmaresNetworkError } from '@palmares/client'
import type { ComponentType } from 'preact'
import lazy from 'preact-iso/lazy'
import { Failure } from './parts/States.js'
import { Title } from './parts/Title.js'
import { keep, recall } from './storage.js'

const RELOADED_AS = 'palmares.reloaded'

interface Module {
  /** The router passes `params` to every page; `id` is set if the path has one. */
  default: ComponentType<{ params: { id: string } }>
}

/**
 * A page whose code is loaded when it is first shown. The usual reason for a failure is an upgraded server, whose files
 * have other names: the document is reloaded once per path. If that fails too, the reader sees an error and can retry.
 */
export function load(importPage: () => Promise<Module>) {
  return lazy(() => importPage().then(arrived, reloadOnce))
}

function arrived(module: Module): Module {
  if (recall('sessionStorage', RELOADED_AS) === location.pathname) keep('sessionStorage', RELOADED_AS, null)
  return module
}

function reloadOnce(error: unknown): Module | Promise<Module> {
  const wasReloaded = recall('sessionStorage', RELOADED_AS) === location.pathname
  // Offline, a reload would show the browser's error page. Without session storage, it could repeat forever.
  if (wasReloaded || !navigator.onLine || !keep('sessionStorage', RELOADED_AS, location.pathname)) {
    return { default: () => <NotLoaded cause={error} /> }
  }
  location.reload()
  return new Promise(() => {})
}

/** Retries by reloading the document: browsers may cache the failure of a module import. */
function NotLoaded({ cause }: { cause: unknown }) {
  const error = new PalmaresNetworkError('The code of this page could not be loaded.', { cause })
  return (
    <>
      <Title text="Palmarès" />
      <Failure error={error} onRetry={() => location.reload()} />
    </>
  )
}
