import { Marked } from 'marked'
import { countCodePoints } from '../../text.js'

/**
 * What a description may be to be read as Markdown. Past these bounds a parser takes seconds, or fills the memory: marks of
 * emphasis are matched pair by pair, each level of a quote or a list is one more call, a short row of a table is filled up, and
 * an address that is defined once may be used everywhere.
 */
const MAX_MARKDOWN_CHARACTERS = 30_000
const MAX_MARKS = 3_000
const MAX_TABLE_CELLS = 10_000
/** A run of letters like an address of e-mail is looked through from each of its letters on. */
const LONG_WORD = /[\w.+-]{1000}/
const TOO_DEEP = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])[ \t])){50}/m

/** The longest description that the portal keeps. */
const MAX_HTML_CODE_POINTS = 1_000_000

const markdown = new Marked({ async: false, gfm: true })

/** HTML of a description, and what it was not taken as, if anything. The same text is always the same HTML. */
export function toHtml(description: string): { html: string; kept?: 'plain' | 'out' } {
  const html = isSimple(description) ? parse(description) : undefined
  if (html !== undefined && fits(html)) return { html }
  const plain = `<pre>${description.replace(/[&<>]/g, (character) => ENTITIES[character] as string)}</pre>`
  return fits(plain) ? { html: plain, kept: 'plain' } : { html: '', kept: 'out' }
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

function isSimple(text: string): boolean {
  if (text.length > MAX_MARKDOWN_CHARACTERS || TOO_DEEP.test(text) || LONG_WORD.test(text)) return false
  return (text.match(/[*_~]/g)?.length ?? 0) <= MAX_MARKS && !hasLargeTable(text)
}

/** Each row of a table has as many cells as its head, however few it names; it ends before an empty line at the latest. */
function hasLargeTable(text: string): boolean {
  const lines = text.split(/\r\n|[\r\n]/)
  let rowsBelow = 0
  for (let index = lines.length - 1; index > 0; index--) {
    rowsBelow = lines[index]?.trim() === '' ? 0 : rowsBelow + 1
    const columns = (lines[index - 1] as string).split('|').length
    if (columns * rowsBelow > MAX_TABLE_CELLS && isRule(lines[index] as string)) return true
  }
  return false
}

/** The line between the head of a table and its rows, in a quote or a list too. */
function isRule(line: string): boolean {
  return line.includes('-') && /^[\s\d>*+.)|:-]+$/.test(line)
}

/** Undefined where the parser gives up, as on nesting that the bounds did not foresee. */
function parse(text: string): string | undefined {
  try {
    return markdown.parse(text, { async: false }).trim()
  } catch {
    return undefined
  }
}

function fits(html: string): boolean {
  return html.length <= MAX_HTML_CODE_POINTS || countCodePoints(html) <= MAX_HTML_CODE_POINTS
}
