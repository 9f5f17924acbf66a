import { statement } from './query.js'
import type { Db } from './store.js'

/** Lines that are kept; the oldest are deleted first. A process that is further behind drops every credential that it caches. */
const MAX_LINES = 1_000

/** Stands for any credential. */
const ANY = ''

/** Notes which credentials a version of the accounts ended, by their SHA-256; true: any may have changed. */
export async function noteEnded(
  db: Db,
  { before, version }: { before: number; version: number },
  ended: true | readonly string[],
): Promise<void> {
  const empreintes = ended === true || ended.length >= MAX_LINES ? [ANY] : ended
  const rows = empreintes.map((empreinte) => [version, before, empreinte])
  await db.load('acces_finis', ['version', 'precedente', 'empreinte'], rows)
  await db.run(deleteOldest, {})
}

/**
 * The credentials that ended after a version of the accounts and up to another; undefined where any may have. Each line
 * names the version before its own, so a line that is missing shows, whatever the reason: deleted, lost in a failover, or
 * never written by an older program.
 */
export async function readEnded(db: Db, since: number, version: number): Promise<string[] | undefined> {
  const rows = await db.all(selectSince, { since, limit: 2 * MAX_LINES })
  let last = since
  for (const row of rows) {
    if (row.empreinte === ANY || (row.version !== last && row.precedente !== last)) return undefined
    last = row.version
  }
  return last === version ? rows.map(({ empreinte }) => empreinte) : undefined
}

const selectSince = statement<{ since: number; limit: number }>()((q, p) =>
  q
    .selectFrom('acces_finis')
    .select(['version', 'precedente', 'empreinte'])
    .where('version', '>', p.since)
    .orderBy('version')
    .limit(p.limit),
)

const deleteOldest = statement()((q) =>
  q
    .deleteFrom('acces_finis')
    .where('version', '<', (finis) =>
      finis.selectFrom('acces_finis').select('version').orderBy('version', 'desc').limit(1).offset(MAX_LINES),
    ),
)
