import cluster from 'node:cluster'
import type { Command } from 'commander'
import type { Logger } from 'pino'
import type { AppSettings } from '../app.js'
import { type ServeOptions, toAppSettings, toServing } from '../config.js'
import { database, host, metricsPort, port, scaleSettings, serveSettings } from '../settings.js'
import { openStore } from '../store/open.js'
import { command, withStore } from './command.js'

export function serveCommand(): Command {
  const settings = [database, host, port, metricsPort, ...Object.values({ ...serveSettings, ...scaleSettings })]
  return command('serve', 'Serve a store; makes and migrates a missing one.', settings).action(
    async (options: ServeOptions) => {
      const appSettings = toAppSettings(options)
      const { makeLog } = await import('./serving.js')
      const count = options.workers ?? 1
      const log = makeLog(options.logLevel, count > 1)
      if (cluster.isWorker) await serveAsWorker(options, appSettings, log)
      else if (count > 1) await superviseWorkers(options, count, log)
      else await serveAlone(options, appSettings, log)
    },
  )
}

async function serveAlone(options: ServeOptions, settings: AppSettings, log: Logger): Promise<void> {
  await withStore(options.database, { create: true, serving: toServing(options, log) }, async (store) => {
    const { listen } = await import('./listen.js')
    const { stopped } = await listen(store, settings, options, log)
    await stopped
  })
}

/** The store is made and migrated once, before any worker opens it. */
async function superviseWorkers(options: ServeOptions, count: number, log: Logger): Promise<void> {
  await withStore(options.database, { create: true }, async () => undefined)
  const { supervise } = await import('./supervise.js')
  await supervise(options, count, log)
}

async function serveAsWorker(options: ServeOptions, settings: AppSettings, log: Logger): Promise<void> {
  const { leave, makeSiblings, work } = await import('./worker.js')
  try {
    const serving = { ...toServing(options, log), siblings: makeSiblings(log) }
    const store = await openStore(options.database, { create: false, serving })
    try {
      const { stopped } = await work(store, settings, options, log)
      await stopped
    } finally {
      await store.close()
    }
  } finally {
    leave()
  }
}
