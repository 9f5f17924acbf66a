import { FieldError } from '../../model/readers.js'
import type { Faults } from '../../portal/faults.js'
import { attempt, isRow, type Row, read, refuse, throwIfAny } from '../faults.js'
import { readResults } from '../json.js'
import type { Notes } from '../notes.js'
import { id } from '../values.js'
import { type Archive, fileOf } from './archive.js'

/** The tables of an open export, what is to be reported about them, and a callback for progress. */
export interface Source {
  archive: Archive
  faults: Faults
  leftOut: Notes
  warnings: Notes
  onProgress: (records: number, bytes: number) => void
}

/**
 * Reads a table record by record, with only the current one in memory. Throws `ImportError` if its first record lacks columns,
 * because it is of another version, and at its end if records have faults.
 */
export async function readTable(
  source: Source,
  table: string,
  columns: readonly string[],
  take: (row: Row) => void,
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
      const place = `${file}: result ${result}${nameOf(row)}`
      if (!isRow(row)) source.faults.add(place, 'must be an object')
      else {
        const missing = columns.filter((column) => !Object.hasOwn(row, column)).join(', ')
        if (missing !== '' && result === 1) throw refuse(`${file} has no ${missing}; ${VERSIONS}`)
        attempt(source.faults, place, () => {
          if (missing !== '') throw new FieldError(`${missing} is missing`)
          take(row)
        })
      }
    }
    source.onProgress(rows.length, bytes)
    bytes = 0
  }
  throwIfAny(source.faults)
}

/** Versions differ in what they have, and what they say of themselves means nothing. */
const VERSIONS = 'the importer needs the tables of CTFd 2 or later'

function nameOf(row: unknown): string {
  const found = isRow(row) ? row.id : undefined
  return typeof found === 'number' ? ` (id ${found})` : ''
}

/** The most records of a table that are in memory at once. */
const MAX_RECORDS = 5_000_000

/** The id of a record. Throws `FieldError` if an earlier record has the same, or if there are too many records. */
export function readId(row: Row, before: ReadonlyMap<number, unknown>): number {
  const found = read(row, 'id', id)
  if (before.has(found)) throw new FieldError('id is there twice')
  if (before.size >= MAX_RECORDS) throw new FieldError(`exceeds the limit of ${MAX_RECORDS} records`)
  return found
}
