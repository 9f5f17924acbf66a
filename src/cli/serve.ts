import type { Command } from 'commander'
import { database, host, metricsPort, port, type ServeOptions, serveSettings, toAppSettings } from '../config.js'
import { openStore } from '../store/open.js'
import { command } from './command.js'

export function serveCommand(): Command {
  const settings = [database, host, port, metricsPort, ...Object.values(serveSettings)]
  return command('serve', 'Serve a store; makes and migrates a missing one.', settings).action(
    async (options: ServeOptions) => {
      const appSettings = toAppSettings(options)
      const store = await openStore(options.database, { create: true })
      try {
        const { listen } = await import('./listen.js')
        const { stopped } = await listen(store, appSettings, options)
        await stopped
      } finally {
        await store.close()
      }
    },
  )
}
