import type { Store } from '../store/store.js'
import { touch } from './queries.js'

/** When a session or a key was last used. */
export interface Use {
  table: 'sessions' | 'cles_api'
  empreinte: string
  at: number
}

const FLUSH_MILLISECONDS = 1_000
const MAX_NOTED = 10_000

/** Gathers the uses of credentials and writes them together, so that an hour that begins costs one write and not thousands. */
export class Uses {
  private noted = new Map<string, Use>()
  private timer: NodeJS.Timeout | undefined

  constructor(private readonly store: Store) {}

  note(use: Use): void {
    if (this.noted.size >= MAX_NOTED) return
    this.noted.set(use.empreinte, use)
    this.timer ??= setTimeout(() => this.flush(), FLUSH_MILLISECONDS).unref()
  }

  /** Writes what is noted. A store that cannot write now loses the hour's use, which is no reason to refuse anybody. */
  async flush(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    const uses = [...this.noted.values()]
    this.noted.clear()
    if (uses.length === 0) return
    const written = this.store.write({}, async (db) => {
      for (const { table, empreinte, at } of uses) await touch(db, table, empreinte, at)
    })
    await written.catch(() => undefined)
  }
}
