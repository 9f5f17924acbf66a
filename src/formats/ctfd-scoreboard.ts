import { FieldError, text } from '../model/readers.js'
import { Faults } from '../portal/faults.js'
import { attempt, isRow, type Row, read, refuse, throwIfAny } from './faults.js'
import { readGroupe } from './groupe.js'
import { readJsonFile } from './json.js'
import { Notes } from './notes.js'
import { type AuteurRecord, type Converted, toAuteur } from './records.js'
import { type Decimal, id, later, naiveInstant, placeOrNone, points } from './values.js'

const MAX_NAME = 1_000

/**
 * Reads the answer of CTFd's `/api/v1/scoreboard`: who has which score; or of its `/top/N`, which also says when. Throws
 * `ImportError` with what is wrong and where.
 */
export async function convertScoreboard(chunks: AsyncIterable<Uint8Array>, scale?: Decimal): Promise<Converted> {
  const { success, data } = await readJsonFile(chunks, 'ctfd-scoreboard')
  if (success === false) throw refuse('success is false: CTFd did not show the scoreboard; sign in or make it public')
  const faults = new Faults()
  const warnings = new Notes()
  const auteurs = new Map<number, AuteurRecord>()
  const places = new Map<number, number | undefined>()
  for (const { at, entry, pos } of entriesOf(data)) {
    attempt(faults, at, () => {
      if (!isRow(entry)) throw new FieldError('must be an object')
      const field = pos === undefined ? 'account_id' : 'id'
      const id_auteur = read(entry, field, id)
      if (auteurs.has(id_auteur)) throw new FieldError(`${field} ${id_auteur} is there twice`)
      const score = read(entry, 'score', points(scale))
      const name = read(entry, 'name', text(MAX_NAME))
      if (name.trim() === '') warnings.add('account(s) without a name are called account-ID', id_auteur)
      if (score < 0) warnings.add('account(s) with a score below 0 have 0', id_auteur)
      const nom = name.trim() === '' ? `account-${id_auteur}` : name
      const groupe = readGroupe(entry, 'bracket_name', warnings, id_auteur)
      auteurs.set(id_auteur, toAuteur(id_auteur, nom, score, { groupe, reached: readReached(entry) }))
      places.set(id_auteur, placeOrNone(pos ?? entry.pos))
    })
  }
  throwIfAny(faults)
  return { records: auteurs.values(), nbAuteurs: auteurs.size, places, leftOut: [], warnings: warnings.lines() }
}

/** The accounts, and where each stands in the file: in a list, or by place, as `/top/N` has them. */
function entriesOf(data: unknown): { at: string; entry: unknown; pos?: string }[] {
  if (Array.isArray(data)) return data.map((entry: unknown, index) => ({ at: `data[${index}]`, entry }))
  if (!isRow(data) || !Object.keys(data).every((place) => /^\d{1,16}$/.test(place))) {
    throw refuse(
      "data must be a list of accounts, or an object of them by place, as CTFd's /api/v1/scoreboard gives it",
    )
  }
  return Object.entries(data).map(([pos, entry]) => ({ at: `data["${pos}"]`, entry, pos }))
}

/** When the score was reached: the latest date of a solve or an award that is not worth 0. */
function readReached({ solves }: Row): number | null {
  if (solves === undefined || solves === null) return null
  if (!Array.isArray(solves)) throw new FieldError('solves must be a list')
  let reached: number | null = null
  for (const solve of solves as unknown[]) {
    if (!isRow(solve)) throw new FieldError('solves must be a list of objects')
    if (Number(solve.value) !== 0) reached = later(reached, read(solve, 'date', naiveInstant))
  }
  return reached
}
