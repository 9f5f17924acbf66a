import { FieldError, text } from '../model/readers.js'
import { Faults } from '../portal/faults.js'
import { attempt, isRow, read, refuse, throwIfAny } from './faults.js'
import { readJsonFile } from './json.js'
import { Notes } from './notes.js'
import type { Converted, DumpRecord } from './records.js'
import { type Decimal, id, points } from './values.js'

const MAX_NAME = 1_000

/**
 * Reads the answer of CTFd's `/api/v1/scoreboard`: who has which score. Places are not taken, as the ranking gives them.
 * Throws `ImportError` with what is wrong and where.
 */
export async function convertScoreboard(chunks: AsyncIterable<Uint8Array>, scale?: Decimal): Promise<Converted> {
  const { success, data } = await readJsonFile(chunks, 'ctfd-scoreboard')
  if (success === false) throw refuse('success is false: CTFd did not show the scoreboard; sign in or make it public')
  if (isRow(data)) throw refuse('data must be a list of accounts; /api/v1/scoreboard gives one, its /top does not')
  if (!Array.isArray(data)) throw refuse("data must be a list of accounts, as CTFd's /api/v1/scoreboard gives it")
  const faults = new Faults()
  const warnings = new Notes()
  const auteurs = new Map<number, DumpRecord>()
  for (const [index, entry] of data.entries()) {
    attempt(faults, `data[${index}]`, () => {
      const row = entry as unknown
      if (!isRow(row)) throw new FieldError('must be an object')
      const id_auteur = read(row, 'account_id', id)
      if (auteurs.has(id_auteur)) throw new FieldError(`account_id ${id_auteur} is there twice`)
      const score = read(row, 'score', points(scale))
      const name = read(row, 'name', text(MAX_NAME))
      if (name.trim() === '') warnings.add('account(s) without a name are called account-ID', id_auteur)
      if (score < 0) warnings.add('account(s) with a score below 0 have 0', id_auteur)
      const nom = name.trim() === '' ? `account-${id_auteur}` : name
      auteurs.set(id_auteur, { type: 'auteur', id_auteur, nom, score: Math.max(0, score) })
    })
  }
  throwIfAny(faults)
  return { records: auteurs.values(), nbAuteurs: auteurs.size, leftOut: [], warnings: warnings.lines() }
}
