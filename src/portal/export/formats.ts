import { stringify } from 'csv-stringify/sync'
import { toJsonText } from '../../json.js'
import type { Row } from './rows.js'

export const FORMATS = ['ndjson', 'json', 'csv'] as const
export type Format = (typeof FORMATS)[number]

/** Characters of a text that is handed on; a single row may make it longer. */
const PIECE_CHARACTERS = 65_536
/** Rows that become text at once. */
const ROWS_AT_ONCE = 20

/** Rows as the text of a format, in pieces. The columns are those of its header, and of no other format. */
export async function* toText(
  rows: AsyncIterable<Row[]>,
  format: Format,
  columns: readonly string[] = [],
): AsyncGenerator<string> {
  const { begin, write, end } = writers[format](columns)
  let text = begin
  for await (const found of rows) {
    for (let from = 0; from < found.length; from += ROWS_AT_ONCE) {
      text += write(found.slice(from, from + ROWS_AT_ONCE))
      if (text.length < PIECE_CHARACTERS) continue
      yield text
      text = ''
    }
  }
  yield text + end
}

interface Writer {
  begin: string
  write(rows: Row[]): string
  end: string
}

const writers: Record<Format, (columns: readonly string[]) => Writer> = {
  ndjson: () => ({ begin: '', write: (rows) => rows.map((row) => `${toJsonText(row)}\n`).join(''), end: '' }),
  json() {
    let before = ''
    const write = (rows: Row[]) => {
      const text = before + rows.map(toJsonText).join(',')
      before = ','
      return text
    }
    return { begin: '[', write, end: ']' }
  },
  csv: (columns) => ({ begin: toCsv([columns]), write: (rows) => toCsv(rows.map(cellsOf)), end: '' }),
}

/**
 * RFC 4180. A text that a spreadsheet would take for a formula gets a `'` before it. Where a delimiter of records is given, the
 * library would leave cells that hold another line break without quotes.
 */
function toCsv(records: readonly (readonly unknown[])[]): string {
  return stringify(records as unknown[][], {
    record_delimiter: 'windows',
    quote_record_delimiter: true,
    escape_formulas: true,
  })
}

function cellsOf(row: Row): unknown[] {
  return Object.values(row).map((value) => (Array.isArray(value) ? value.join(' ') : value))
}
