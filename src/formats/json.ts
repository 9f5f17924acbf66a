import { isUtf8 } from 'node:buffer'
import { Tokenizer, TokenParser } from '@streamparser/json'
import { ImportError } from '../portal/import.js'
import { isRow, type Row, refuse } from './faults.js'
import { type FormatName, isUtf16, refuseOther } from './sniff.js'

/** The largest file that is read whole; a feed of ten thousand teams and a hundred tasks is a third of it. */
const MAX_FILE_BYTES = 128 * 1024 * 1024

/** The longest record of a streamed document, as of a line of a dump. */
const MAX_RECORD_BYTES = 8 * 1024 * 1024

/** Exports and feeds are not nested deeper. Each level costs the parser memory. */
const MAX_DEPTH = 64

/** A whole file of a format that is one JSON object. Throws `ImportError` that says what the file is instead. */
export async function readJsonFile(chunks: AsyncIterable<Uint8Array>, format: FormatName): Promise<Row> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > MAX_FILE_BYTES) throw refuse(`the file is longer than ${MAX_FILE_BYTES} bytes`)
    parts.push(chunk)
  }
  const whole = Buffer.concat(parts)
  refuseOther(whole, format)
  if (!isUtf8(whole)) throw refuse('the file is not UTF-8')
  nestingGuard('the file')(whole)
  const value = parse(whole)
  if (!isRow(value))
    throw refuse(`the file must be an object, not ${Array.isArray(value) ? 'a list' : 'a single value'}`)
  return value
}

/**
 * Checks the nesting of a JSON text before a parser reads it, which takes hundreds of bytes for each level. Returns a function
 * for each chunk in turn, which throws `ImportError` if the text is nested too deeply.
 */
function nestingGuard(file: string): (chunk: Uint8Array) => void {
  let [offset, depth] = [0, 0]
  let [isText, isEscaped] = [false, false]
  return (chunk) => {
    for (const byte of chunk) {
      if (isEscaped) isEscaped = false
      else if (byte === QUOTE) isText = !isText
      else if (isText) isEscaped = byte === BACKSLASH
      else if (byte === LEFT_BRACKET || byte === LEFT_BRACE) depth++
      else if (byte === RIGHT_BRACKET || byte === RIGHT_BRACE) depth--
      if (depth > MAX_DEPTH) throw refuse(`${file} is nested deeper than ${MAX_DEPTH} levels, after byte ${offset}`)
      offset++
    }
  }
}

const [QUOTE, BACKSLASH, LEFT_BRACKET, RIGHT_BRACKET, LEFT_BRACE, RIGHT_BRACE] = Buffer.from('"\\[]{}')

/** Messages of `JSON.parse` repeat the text, which may be secret. The streaming parser finds the place instead. */
function parse(whole: Buffer): unknown {
  try {
    return JSON.parse(whole.toString('utf8').replace(/^\ufeff/, ''))
  } catch {
    const parser = openParser('the file', () => undefined)
    parser.write(whole)
    parser.end()
    throw refuse('the file is not JSON')
  }
}

/** The elements of `results`, one batch a chunk. Throws `ImportError` for text that is not JSON or of another shape. */
export async function* readResults(chunks: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<unknown[]> {
  let found: unknown[] = []
  let nbFound = 0
  let count: unknown
  const parser = openParser(file, (path, value) => {
    if (path === 'count') count = value
    else found.push(value)
  })
  const refuseDeep = nestingGuard(file)
  let bytesSince = 0
  let isFirst = true
  for await (const chunk of chunks) {
    if (isFirst && isUtf16(chunk)) throw refuse(`${file} is in UTF-16, not in UTF-8`)
    isFirst = false
    refuseDeep(chunk)
    parser.write(chunk)
    bytesSince = found.length > 0 ? 0 : bytesSince + chunk.length
    if (bytesSince > MAX_RECORD_BYTES) {
      throw refuse(`${file}: what follows result ${nbFound} is longer than ${MAX_RECORD_BYTES} bytes`)
    }
    nbFound += found.length
    yield found
    found = []
  }
  if (isFirst) return
  parser.end()
  if (count === undefined && nbFound === 0) throw refuse(`${file} must be an object with count and results`)
  if (count !== undefined && count !== nbFound) {
    throw refuse(`${file}: count is not the number of results, which is ${nbFound}; it may have been cut short`)
  }
}

/** A parser with one record in memory at a time. Its errors name the file and the place, without the text there. */
function openParser(file: string, take: (path: 'count' | 'results', value: unknown) => void) {
  const tokenizer = new Tokenizer()
  const tokens = new TokenParser({ paths: ['$.count', '$.results.*'], keepStack: false })
  let offset = 0
  tokenizer.onToken = (token) => {
    tokens.write(token)
    offset = token.offset
  }
  tokens.onValue = ({ value, key, stack }) => {
    if (stack.length > 1 && typeof key !== 'number') throw refuse(`${file}: results must be a list`)
    take(stack.length > 1 ? 'results' : 'count', value)
  }
  const guarded = (step: () => void, isEnd: boolean) => {
    try {
      step()
    } catch (error) {
      if (error instanceof ImportError) throw error
      if (isEnd) throw refuse(`${file} ends in the middle; it was cut short`)
      const fault = error instanceof TypeError ? 'UTF-8' : 'JSON'
      throw refuse(`${file} is not ${fault}, after byte ${offset}`)
    }
  }
  return {
    write: (chunk: Uint8Array) => guarded(() => tokenizer.write(chunk), false),
    end: () =>
      guarded(() => {
        if (!tokenizer.isEnded) tokenizer.end()
        if (!tokens.isEnded) tokens.end()
      }, true),
  }
}
