import { text } from '../model/readers.js'
import { countCodePoints } from '../text.js'
import { type Row, read } from './faults.js'
import type { Notes } from './notes.js'

/** The longest group of an author, and the longest name that is read to see that. */
const MAX_GROUPE = 100
const MAX_NAME = 10_000

/** The group that a field names, or `""`. One that is too long is left out with a warning that names the `id`. */
export function readGroupe(row: Row, field: string, warnings: Notes, id: number): string {
  const found = read(row, field, text(MAX_NAME))
  if (found.trim() === '') return ''
  if (countCodePoints(found) <= MAX_GROUPE) return found
  warnings.add(`group(s) of more than ${MAX_GROUPE} characters are left out; ${field} of`, id)
  return ''
}
