import cluster from 'node:cluster'
import type { Command } from 'commander'
import type { Logger } from 'pino'
import { type ServerOptions, toServerOptions, toServing } from '../config.js'
import { SERVE_OPTIONS, type ServeOptions } from '../options.js'
import { isMissing } from '../store/open.js'
import { command, withStore } from './command.js'

export function serveCommand(): Command {
  return command('serve', 'Serve a store. Creates it if needed, and migrates it.', SERVE_OPTIONS).action(
    async (given: ServeOptions) => {
      const options = toServerOptions(given)
      const { claimPort, makeLog } = await import('./serving.js')
      const log = makeLog(options.logLevel, options.workers > 1)
      if (cluster.isWorker) return serveAsWorker(options, log)
      // A port in use must not leave a new, empty store behind.
      if (await isMissing(options.database)) await claimPort(options.host, options.port)
      if (options.workers > 1) await superviseWorkers(options, log)
      else await serveAlone(options, log)
    },
  )
}

async function serveAlone(options: ServerOptions, log: Logger): Promise<void> {
  await withStore(options.database, { create: true, serving: toServing(options, log) }, async (store) => {
    const { listen } = await import('./listen.js')
    const { stopped } = await listen(store, options, log)
    await stopped
  })
}

/** The store is made and migrated once, before any worker opens it. */
async function superviseWorkers(options: ServerOptions, log: Logger): Promise<void> {
  await withStore(options.database, { create: true }, async () => undefined)
  const { supervise } = await import('./supervise.js')
  await supervise(options, log)
}

async function serveAsWorker(options: ServerOptions, log: Logger): Promise<void> {
  const { leave, makeSiblings, work } = await import('./worker.js')
  try {
    const serving = { ...toServing(options, log), siblings: makeSiblings(log) }
    await withStore(options.database, { create: false, serving }, async (store) => {
      const { stopped } = await work(store, options, log)
      await stopped
    })
  } finally {
    leave()
  }
}
