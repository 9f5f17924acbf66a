import { nowSeconds } from '../instant.js'
import type { JournalEntry } from './changes.js'
import { statement } from './query.js'
import type { Db } from './store.js'

/** Anything may have changed. */
export const EVERYTHING: readonly JournalEntry[] = [{ type: 'portail' }]

/** The journal holds so many lines; the oldest go first. */
const MAX_JOURNAL_LINES = 100_000

/** Writes lines under the cursors that follow `last`. Returns the newest cursor. */
export async function appendJournal(db: Db, entries: readonly JournalEntry[], last: number): Promise<number> {
  const date = nowSeconds()
  const first = Math.max(0, entries.length - MAX_JOURNAL_LINES)
  for (let from = first; from < entries.length; from += LOADED_AT_ONCE) {
    const some = entries.slice(from, from + LOADED_AT_ONCE)
    const rows = some.map((entry, i) => toRow(last + from + i + 1, date, entry))
    await db.load('journal', COLUMNS, rows)
  }
  const [state] = await db.all(selectLines, {})
  const lines = Number(state?.lignes) + entries.length - first
  const excess = Math.max(0, lines - MAX_JOURNAL_LINES)
  if (excess > 0) await db.run(deleteOldest, { excess })
  await db.run(updateLines, { lignes: lines - excess })
  return last + entries.length
}

/** Rows are made so many at a time, so that nothing else waits long. */
const LOADED_AT_ONCE = 1_000

function toRow(curseur: number, date: number, entry: JournalEntry): unknown[] {
  const { type, supprime = 0, id_auteur = null, id_challenge = null, id_rubrique = null, rangs } = entry
  return [curseur, date, type, supprime, id_auteur, id_challenge, id_rubrique, rangs ? JSON.stringify(rangs) : null]
}

const COLUMNS = ['curseur', 'date', 'type', 'supprime', 'id_auteur', 'id_challenge', 'id_rubrique', 'rangs']

/** The lines after a cursor, oldest first; undefined where some are gone, or there are more than `limit`. */
export async function readJournal(db: Db, since: number, limit: number): Promise<JournalEntry[] | undefined> {
  const rows = await db.all(selectSince, { since, limit: limit + 2 })
  // The line at the cursor itself shows that none after it is gone.
  if (rows[0]?.curseur !== since || rows.length > limit + 1) return undefined
  return rows.slice(1).map(({ curseur, rangs, ...entry }) => ({
    ...entry,
    type: entry.type as JournalEntry['type'],
    ...(rangs !== null && { rangs: JSON.parse(rangs) }),
  }))
}

const selectSince = statement<{ since: number; limit: number }>()((q, p) =>
  q
    .selectFrom('journal')
    .select(['curseur', 'type', 'supprime', 'id_auteur', 'id_challenge', 'id_rubrique', 'rangs'])
    .where('curseur', '>=', p.since)
    .orderBy('curseur')
    .limit(p.limit),
)

const selectLines = statement()((q) => q.selectFrom('etat').select('journal_lignes as lignes'))

const updateLines = statement<{ lignes: number }>()((q, p) => q.updateTable('etat').set({ journal_lignes: p.lignes }))

const deleteOldest = statement<{ excess: number }>()((q, p) =>
  q
    .deleteFrom('journal')
    .where('curseur', 'in', q.selectFrom('journal').select('curseur').orderBy('curseur').limit(p.excess)),
)
