import type { Db, Store } from '../store/store.js'
import { touch } from './credentials-queries.js'

/** When a session or a key was last used. */
export interface Use {
  table: 'sessions' | 'cles_api'
  empreinte: string
  at: number
}

const FLUSH_MILLISECONDS = 1_000
const MAX_NOTED = 10_000
/** Credentials per statement. */
const MAX_TOUCHED = 500

/**
 * Collects the uses of credentials and writes them in batches, so that the start of an hour costs one write and not thousands.
 */
export class Uses {
  private noted = new Map<string, Use>()
  private timer: NodeJS.Timeout | undefined

  constructor(private readonly store: Store) {}

  note(use: Use): void {
    if (this.noted.size >= MAX_NOTED) return
    this.noted.set(use.empreinte, use)
    this.timer ??= setTimeout(() => this.flush(), FLUSH_MILLISECONDS).unref()
  }

  /** Writes the recorded uses. If the store cannot write, they are lost; requests must not fail because of it. */
  async flush(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    const uses = [...this.noted.values()]
    this.noted.clear()
    if (uses.length === 0) return
    const written = this.store.write({}, (db) => touchAll(db, uses))
    await written.catch(() => undefined)
  }
}

/** Many uses share one statement, because a round trip for each would delay other writers. */
async function touchAll(db: Db, uses: readonly Use[]): Promise<void> {
  const hours = new Set(uses.map(({ at }) => at))
  for (const table of ['sessions', 'cles_api'] as const) {
    for (const at of hours) {
      const empreintes = uses.filter((use) => use.table === table && use.at === at).map(({ empreinte }) => empreinte)
      for (let i = 0; i < empreintes.length; i += MAX_TOUCHED) {
        await touch(db, table, empreintes.slice(i, i + MAX_TOUCHED), at)
      }
    }
  }
}
