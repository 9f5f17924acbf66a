import { DAY_SECONDS, nowSeconds } from '../instant.js'
import type { JournalEntry } from './changes.js'
import { statement } from './query.js'
import { readSetting } from './settings.js'
import type { Db } from './store.js'

/** Anything may have changed. */
export const EVERYTHING: readonly JournalEntry[] = [{ type: 'portail' }]

/** The journal holds so many lines; the oldest go first. */
const MAX_JOURNAL_LINES = 100_000
/** Each time that so many lines were written, lines older than the setting `journal_jours` are deleted, so many at most. */
const EXPIRY_LINES = 256
const MAX_EXPIRED_LINES = 4 * EXPIRY_LINES

/** Writes lines under the cursors that follow `last`. Returns the newest cursor. */
export async function appendJournal(db: Db, entries: readonly JournalEntry[], last: number): Promise<number> {
  const date = nowSeconds()
  const first = Math.max(0, entries.length - MAX_JOURNAL_LINES)
  await db.load('journal', COLUMNS, toRows(entries.slice(first), last + first, date))
  const newest = last + entries.length
  const [state] = await db.all(selectLines, {})
  const lines = Number(state?.lignes) + entries.length - first
  const excess = Math.max(0, lines - MAX_JOURNAL_LINES)
  const deleted = excess > 0 ? await db.run(deleteOldest, { rows: excess, before: Number.MAX_SAFE_INTEGER }) : 0
  const isDue = Math.floor(newest / EXPIRY_LINES) > Math.floor(last / EXPIRY_LINES)
  const expired = isDue ? await deleteExpired(db, date) : 0
  await db.run(updateLines, { lignes: lines - deleted - expired })
  return newest
}

async function deleteExpired(db: Db, now: number): Promise<number> {
  const days = await readSetting(db, 'journal_jours')
  return db.run(deleteOldest, { rows: MAX_EXPIRED_LINES, before: now - days * DAY_SECONDS })
}

function* toRows(entries: readonly JournalEntry[], last: number, date: number): Generator<unknown[]> {
  for (const [i, entry] of entries.entries()) {
    const { type, supprime = 0, id_auteur = null, id_challenge = null, id_rubrique = null, rangs } = entry
    const ranges = rangs ? JSON.stringify(rangs) : null
    yield [last + i + 1, date, type, supprime, id_auteur, id_challenge, id_rubrique, ranges]
  }
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

/** Of the oldest lines, those that were written before an instant. */
const deleteOldest = statement<{ rows: number; before: number }>()((q, p) =>
  q
    .deleteFrom('journal')
    .where('curseur', 'in', q.selectFrom('journal').select('curseur').orderBy('curseur').limit(p.rows))
    .where('date', '<', p.before),
)
