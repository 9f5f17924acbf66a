import { FieldError } from './fields.js'
import type { Line } from './lines.js'
import { kindOf, type RecordKind, readKey, readRecord, recordKinds } from './records.js'

/** What one line of a dump says. */
export interface ParsedLine {
  kind: RecordKind
  isRemoval: boolean
  /** The values of the key, the columns and the staged columns; of a removal, those of the key alone. */
  row: unknown[]
  /** Makes the rows of the list in the record: thousands of small objects, which are not worth keeping. */
  children: () => unknown[][]
  /** Names of fields that no record of the kind has; they are left out. */
  unknownFields: string[]
}

const TYPES: readonly string[] = recordKinds.map(({ type }) => type)

/** Reads a line of some types; undefined where it is blank. Throws `FieldError` with the field and the reason. */
export function parseLine({ text, fault }: Line, types = TYPES): ParsedLine | undefined {
  if (text === undefined) throw new FieldError(fault)
  if (text.trim() === '') return undefined
  const line = parseObject(text)
  const kind = kindOf(line.type)
  if (!kind || !types.includes(kind.type)) throw new FieldError(`type must be one of ${types.join(', ')}`)
  if (line.supprime !== undefined && line.supprime !== false) {
    if (line.supprime !== true) throw new FieldError('supprime must be true or false')
    return { kind, isRemoval: true, row: readKey(kind, line), children: () => [], unknownFields: [] }
  }
  const isUnknown = (name: string) => !Object.hasOwn(kind.fields, name) && name !== 'type' && name !== 'supprime'
  return { kind, isRemoval: false, ...readRecord(kind, line), unknownFields: Object.keys(line).filter(isUnknown) }
}

function parseObject(text: string): Record<string, unknown> {
  let line: unknown
  try {
    line = JSON.parse(text)
  } catch {
    throw new FieldError('the line is not JSON; it may have been cut short')
  }
  if (typeof line !== 'object' || line === null || Array.isArray(line))
    throw new FieldError('the line must be an object')
  return line as Record<string, unknown>
}
