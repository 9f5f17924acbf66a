import { Command } from 'commander'
import { toOption } from '../config.js'
import type { CommandOptions } from '../options.js'
import { openStore } from '../store/open.js'
import type { OpenOptions } from '../store/opening.js'
import type { Store } from '../store/store.js'

/** A command with options. The environment may set each of them. Its action receives `OptionsOf` them. */
export function command(name: string, description: string, options: CommandOptions): Command {
  const made = new Command(name).description(description)
  for (const [option, described] of Object.entries(options)) made.addOption(toOption(option, described))
  return made
}

/** Opens a store for one piece of work and closes it, whatever comes of it. */
export async function withStore<T>(url: string, options: OpenOptions, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url, options)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** All of standard input, as text, without the newline at its end. */
export async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}
