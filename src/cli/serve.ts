import cluster from 'node:cluster'
import type { Command } from 'commander'
import type { Logger } from 'pino'
import { type ServerSettings, toServerSettings, toServing } from '../config.js'
import { type ServeOptions, serveSettings } from '../settings.js'
import { command, withStore } from './command.js'

export function serveCommand(): Command {
  return command('serve', 'Serve a store. Creates it if needed, and migrates it.', serveSettings).action(
    async (options: ServeOptions) => {
      const settings = toServerSettings(options)
      const { makeLog } = await import('./serving.js')
      const log = makeLog(settings.logLevel, settings.workers > 1)
      if (cluster.isWorker) await serveAsWorker(settings, log)
      else if (settings.workers > 1) await superviseWorkers(settings, log)
      else await serveAlone(settings, log)
    },
  )
}

async function serveAlone(settings: ServerSettings, log: Logger): Promise<void> {
  await withStore(settings.database, { create: true, serving: toServing(settings, log) }, async (store) => {
    const { listen } = await import('./listen.js')
    const { stopped } = await listen(store, settings, log)
    await stopped
  })
}

/** The store is made and migrated once, before any worker opens it. */
async function superviseWorkers(settings: ServerSettings, log: Logger): Promise<void> {
  await withStore(settings.database, { create: true }, async () => undefined)
  const { supervise } = await import('./supervise.js')
  await supervise(settings, log)
}

async function serveAsWorker(settings: ServerSettings, log: Logger): Promise<void> {
  const { leave, makeSiblings, work } = await import('./worker.js')
  try {
    const serving = { ...toServing(settings, log), siblings: makeSiblings(log) }
    await withStore(settings.database, { create: false, serving }, async (store) => {
      const { stopped } = await work(store, settings, log)
      await stopped
    })
  } finally {
    leave()
  }
}
