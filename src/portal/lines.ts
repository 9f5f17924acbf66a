import { isUtf8 } from 'node:buffer'

/** The longest line that is read; a description is the longest thing in one. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024

export interface Line {
  number: number
  /** Undefined where the bytes are no line of text; `fault` says why. */
  text: string | undefined
  fault?: string
}

const NEWLINE = 0x0a

/**
 * Cuts a stream of bytes into lines, holding no more than one line and one chunk. A line that is too long is skipped
 * to its end, and told.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes = MAX_LINE_BYTES,
): AsyncGenerator<Line[]> {
  let number = 0
  let rest: Buffer[] = []
  let restBytes = 0
  const finish = (end: Buffer): Line => {
    number++
    const bytes = restBytes + end.length
    const line = bytes > maxLineBytes ? undefined : rest.length === 0 ? end : Buffer.concat([...rest, end])
    rest = []
    restBytes = 0
    return line
      ? toLine(number, line)
      : { number, text: undefined, fault: `the line is longer than ${maxLineBytes} bytes` }
  }
  for await (const chunk of chunks) {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    const lines: Line[] = []
    let from = 0
    for (let end = buffer.indexOf(NEWLINE); end >= 0; end = buffer.indexOf(NEWLINE, from)) {
      lines.push(finish(buffer.subarray(from, end)))
      from = end + 1
    }
    const tail = buffer.subarray(from)
    restBytes += tail.length
    if (restBytes <= maxLineBytes) rest.push(Buffer.from(tail))
    else rest = []
    yield lines
  }
  if (restBytes > 0) yield [finish(Buffer.alloc(0))]
}

function toLine(number: number, bytes: Buffer): Line {
  if (!isUtf8(bytes)) return { number, text: undefined, fault: 'the line is not UTF-8' }
  const text = bytes.toString('utf8')
  return { number, text: number === 1 ? text.replace(/^\ufeff/, '') : text }
}
