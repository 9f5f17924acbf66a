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
  const groups = new Map<string, Use[]>()
  for (const use of uses) {
    const key = `${use.table} ${use.at}`
    const group = groups.get(key)
    if (group) group.push(use)
    else groups.set(key, [use])
  }
  for (const group of groups.values()) {
    for (let i = 0; i < group.length; i += MAX_TOUCHED) {
      const some = group.slice(i, i + MAX_TOUCHED)
      const { table, at } = some[0] as Use
      await touch(
        db,
        table,
        some.map(({ empreinte }) => empreinte),
        at,
      )
    }
  }
}
