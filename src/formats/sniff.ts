import { KINDS } from '../model/kinds.js'
import { refuse } from './faults.js'
import { topLevelOf } from './top-level.js'

export const formatNames = ['ndjson', 'ctfd', 'ctfd-scoreboard', 'ctftime'] as const

export type FormatName = (typeof formatNames)[number]

/** What is read of a file to see what it may be. */
export const HEAD_BYTES = 65_536

const NAMES: Record<FormatName, string> = {
  ndjson: 'a dump of Palmarès',
  ctfd: 'a zip archive such as a CTFd export',
  'ctfd-scoreboard': "CTFd's scoreboard",
  ctftime: "CTFtime's feed",
}

/** Refuses a file whose first bytes say that it is of another kind than it is taken for. */
export function refuseOther(file: Uint8Array, expected: FormatName): void {
  const head = Buffer.from(file.buffer, file.byteOffset, Math.min(file.byteLength, HEAD_BYTES))
  const found = formatOf(head)
  if (found === expected) return
  if (found) {
    throw refuse(`the file looks like ${NAMES[found]}, which --format ${found} reads, not like ${NAMES[expected]}`)
  }
  const other = otherOf(head) ?? (expected === 'ndjson' ? documentOf(head) : emptinessOf(head))
  if (other) throw refuse(`the file ${other}; it should be ${NAMES[expected]}. ${FORMATS_HELP}`)
}

const FORMATS_HELP = `--format takes ${formatNames.join(', ')}`

/** The format that the first bytes of a file are in, by what they hold; undefined where they are in none that is known. */
function formatOf(head: Buffer): FormatName | undefined {
  if (/^PK(?:\x03\x04|\x05\x06)/.test(head.toString('latin1', 0, 4))) return 'ctfd'
  const text = textOf(head)
  if (DUMP_LINE.test(text)) return 'ndjson'
  const { keys } = topLevelOf(text)
  if (keys.includes('standings')) return 'ctftime'
  if (keys.includes('data')) return 'ctfd-scoreboard'
  if (keys.includes('tasks')) return 'ctftime'
  return keys[0] === 'success' ? 'ctfd-scoreboard' : undefined
}

const DUMP_LINE = new RegExp(`^\\{[^\\n]*"type"\\s*:\\s*"(?:${KINDS.map(({ type }) => type).join('|')})"`)

/** A dump whose first line is cut short has others, whose faults its import reports. */
const LATER_DUMP_LINE = new RegExp(DUMP_LINE.source, 'm')

/** What the file is, where no format is like it. */
function otherOf(head: Buffer): string | undefined {
  const start = head.toString('latin1', 0, 6)
  const compression = COMPRESSIONS.find(([, magic]) => start.startsWith(magic))
  if (compression) return `is compressed by ${compression[0]}; decompress it first`
  if (head.toString('latin1', 0, 15) === 'SQLite format 3') {
    return 'is a SQLite database; if it is a store of Palmarès, `palmares export` writes its dump'
  }
  if (isUtf16(head)) return 'is in UTF-16, not in UTF-8'
  const text = textOf(head)
  if (text.startsWith('<')) return 'looks like HTML or XML'
  if (CSV_LINE.test(text)) return 'looks like a table in CSV'
  const { keys } = topLevelOf(text)
  if (keys[0] !== undefined && ['count', 'results', 'meta'].includes(keys[0])) {
    return 'looks like one table of a CTFd export, whose zip is read whole'
  }
  return undefined
}

const COMPRESSIONS: readonly [name: string, magic: string][] = [
  ['gzip', '\x1f\x8b'],
  ['bzip2', 'BZh'],
  ['xz', '\xfd7zXZ\0'],
  ['zstd', '\x28\xb5\x2f\xfd'],
]

/** A first line of words with separators between them, and another line. */
const CSV_LINE = /^"?[\p{L}\p{N}_ .-]{1,100}"?(?:[,;\t]"?[\p{L}\p{N}_ .-]{0,100}"?)+\r?\n/u

/** A JSON document over several lines, or a list: neither has one object a line. */
function documentOf(head: Buffer): string | undefined {
  const text = textOf(head)
  const isSpread = topLevelOf(text).endsLineInside && !LATER_DUMP_LINE.test(text)
  return text.startsWith('[') || isSpread ? 'is one JSON document, not one object a line' : undefined
}

function emptinessOf(head: Buffer): string | undefined {
  if (head.length === 0) return 'is empty'
  return textOf(head) === '' ? 'begins with only white space' : undefined
}

export function isUtf16(bytes: Uint8Array): boolean {
  const [first, second] = bytes
  const hasMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  return hasMark || (bytes.length > 1 && (first === 0) !== (second === 0))
}

function textOf(bytes: Buffer): string {
  return bytes
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .trimStart()
}
