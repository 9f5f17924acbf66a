import type { Kind } from '../model/kind.js'
import { KINDS, kindOf } from '../model/kinds.js'
import { absentIn, type RecordRow, readRecord } from '../model/line.js'
import { FieldError } from '../model/readers.js'
import type { Line } from './lines.js'
import { UnknownFieldsError } from './unknown-fields.js'

/** What one line of a dump says. A line that removes a record has its key alone. */
export interface ParsedLine extends RecordRow {
  kind: Kind
  isRemoval: boolean
  /** Of a partial line: the fields that it does not name, as `absentIn` has them. */
  absents?: number
  /** Names of fields that no record of the kind has; they are left out. */
  unknownFields: string[]
}

const TYPES: readonly string[] = KINDS.map(({ type }) => type)

/** Reads a line of an import; undefined where it is blank. Throws `FieldError` with the field and the reason. */
export function parseLine(line: Line): ParsedLine | undefined {
  const parsed = parseAny(line, TYPES)
  if (parsed?.absents !== undefined) {
    throw new FieldError('partiel is for live lines (palmares ingest, POST /validations); an import replaces records')
  }
  return parsed
}

/** Reads a line of some types that changes a portal while it is served: it may be partial, and names no unknown field. */
export function parseLiveLine(line: Line, types: readonly string[]): ParsedLine | undefined {
  return parseAny(line, types, ({ kind, unknownFields }) => {
    if (unknownFields.length > 0) throw new UnknownFieldsError(kind, unknownFields)
  })
}

/** `check` comes before the fields are read: a misspelled field would be reported as a missing one. */
function parseAny(
  { text, fault }: Line,
  types: readonly string[],
  check: (line: Pick<ParsedLine, 'kind' | 'unknownFields'>) => void = () => undefined,
): ParsedLine | undefined {
  if (text === undefined) throw new FieldError(fault)
  if (text.trim() === '') return undefined
  const line = parseObject(text)
  const kind = kindOf(line.type)
  if (!kind || !types.includes(kind.type)) throw new FieldError(`type must be one of ${types.join(', ')}`)
  const unknownFields = Object.keys(line).filter((name) => !Object.hasOwn(kind.fields, name) && !MARKS.includes(name))
  check({ kind, unknownFields })
  const [isRemoval, isPartial] = [readMark(line, 'supprime'), readMark(line, 'partiel')]
  if (isRemoval && isPartial) throw new FieldError('partiel does not go with supprime')
  const isNamed = (name: string) => kind.key.includes(name) || (isPartial && Object.hasOwn(line, name))
  return {
    kind,
    isRemoval,
    ...readRecord(kind, line, isRemoval || isPartial ? isNamed : undefined),
    ...(isPartial && { absents: absentIn(kind, line) }),
    unknownFields,
  }
}

/** What a line of any type may have beside the fields of its record. */
const MARKS = ['type', 'supprime', 'partiel']

function readMark(line: Record<string, unknown>, name: 'supprime' | 'partiel'): boolean {
  const value = line[name]
  if (value !== undefined && typeof value !== 'boolean') throw new FieldError(`${name} must be true or false`)
  return value === true
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
