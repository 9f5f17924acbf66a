import { type Field, FieldError } from '../../portal/fields.js'
import type { Faults } from '../../portal/stage.js'
import { attempt, isRow, type Row, read, refuse } from '../faults.js'
import { readResults } from '../json.js'
import { id } from '../values.js'
import { type Archive, fileOf } from './archive.js'

/** The tables of an open export, what is wrong in them, and who is told how far their reading is. */
export interface Source {
  archive: Archive
  faults: Faults
  onProgress: (records: number, bytes: number) => void
}

/** Where a record lies, as messages name it. */
export type Place = () => string

/**
 * Reads a table record by record; none is held but the one at hand. The columns that it must have are looked for in its first
 * record. What `take` finds wrong goes to the faults.
 */
export async function readTable(
  source: Source,
  table: string,
  columns: readonly string[],
  take: (row: Row, place: Place) => void,
): Promise<void> {
  const file = fileOf(table)
  let result = 0
  let bytes = 0
  async function* counted() {
    for await (const chunk of source.archive.read(table)) {
      bytes += chunk.length
      yield chunk
    }
  }
  for await (const rows of readResults(counted(), file)) {
    for (const row of rows) {
      result++
      const place = () => `${file}: result ${result}${nameOf(row)}`
      if (!isRow(row)) source.faults.add(undefined, `${place()} must be an object`)
      else {
        if (result === 1) checkColumns(row, columns, file)
        attempt(source.faults, place, () => take(row, place))
      }
    }
    source.onProgress(rows.length, bytes)
    bytes = 0
  }
}

/** Versions differ in what they have, and say so nowhere. */
function checkColumns(row: Row, columns: readonly string[], file: string): void {
  const missing = columns.filter((column) => !Object.hasOwn(row, column))
  if (missing.length === 0) return
  throw refuse(
    `${file} has no ${missing.join(', ')}; exports of CTFd 2 and later do, other versions are read where they do too`,
  )
}

function nameOf(row: unknown): string {
  const found = isRow(row) ? row.id : undefined
  return typeof found === 'number' ? ` (id ${found})` : ''
}

/** The id of a record. Throws `FieldError` where another one of the table has it. */
export function readId(row: Row, isTaken: (id: number) => boolean): number {
  const free: Field<number> = (value) => {
    const found = id(value)
    if (isTaken(found)) throw new FieldError('is there twice')
    return found
  }
  return read(row, 'id', free)
}
