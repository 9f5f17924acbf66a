import { FieldError, type Read } from '../model/readers.js'
import { Faults } from '../portal/faults.js'
import { ImportError } from '../portal/import.js'

/** The file cannot be read at all: one fault ends it. */
export function refuse(message: string): ImportError {
  const faults = new Faults()
  faults.add(undefined, message)
  return new ImportError(faults, 'file')
}

export function throwIfAny(faults: Faults): void {
  if (faults.count > 0) throw new ImportError(faults, 'file')
}

/** Reads a part of the file. A `FieldError` is added to the faults, with the part's place. */
export function attempt(faults: Faults, place: string, read: () => void): void {
  try {
    read()
  } catch (error) {
    if (!(error instanceof FieldError)) throw error
    faults.add(place, error.message)
  }
}

export type Row = Readonly<Record<string, unknown>>

/** One field of a row. Throws `FieldError` that names the field. */
export function read<T>(row: Row, name: string, field: Read<T>): T {
  try {
    return field(Object.hasOwn(row, name) ? row[name] : undefined)
  } catch (error) {
    throw error instanceof FieldError ? new FieldError(`${name} ${error.message}`) : error
  }
}

export function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
