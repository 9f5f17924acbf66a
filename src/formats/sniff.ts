import { recordKinds } from '../portal/records.js'
import { refuse } from './faults.js'

export const formatNames = ['ndjson', 'ctfd', 'ctfd-scoreboard', 'ctftime'] as const

export type FormatName = (typeof formatNames)[number]

/** What is read of a file to see what it may be. */
export const HEAD_BYTES = 4_096

const NAMES: Record<FormatName, string> = {
  ndjson: 'a dump of Palmarès',
  ctfd: 'a zip archive such as a CTFd export',
  'ctfd-scoreboard': "CTFd's scoreboard",
  ctftime: "CTFtime's feed",
}

/** Refuses a file whose first bytes say that it is of another kind than it is taken for. */
export function refuseOther(head: Uint8Array, expected: FormatName): void {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, HEAD_BYTES))
  const found = formatOf(bytes)
  if (found === expected) return
  if (found)
    throw refuse(`the file looks like ${NAMES[found]}, which --format ${found} reads, not like ${NAMES[expected]}`)
  if (expected === 'ndjson') return
  const other = bytes.length === 0 ? 'is empty' : otherOf(bytes)
  if (other) throw refuse(`the file ${other}; it should be ${NAMES[expected]}`)
}

function formatOf(bytes: Buffer): FormatName | undefined {
  if (/^PK(?:\x03\x04|\x05\x06)/.test(bytes.toString('latin1', 0, 4))) return 'ctfd'
  const text = textOf(bytes)
  if (DUMP_LINE.test(text)) return 'ndjson'
  const firstKey = /^\{\s*"(\w*)"\s*:/.exec(text)?.[1]
  if (firstKey === 'standings' || firstKey === 'tasks') return 'ctftime'
  if (firstKey === 'success' || firstKey === 'data') return 'ctfd-scoreboard'
  return undefined
}

const DUMP_LINE = new RegExp(`^\\{[^\\n]*"type"\\s*:\\s*"(?:${recordKinds.map(({ type }) => type).join('|')})"`)

function otherOf(bytes: Buffer): string | undefined {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'is compressed by gzip'
  if (isUtf16(bytes)) return 'is in UTF-16, not in UTF-8'
  const text = textOf(bytes)
  if (text === '') return 'has nothing but spaces at its beginning'
  if (text.startsWith('<')) return 'looks like HTML or XML'
  if (/^\{\s*"(?:count|results|meta)"\s*:/.test(text))
    return 'looks like one table of a CTFd export, whose zip is read whole'
  return undefined
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
