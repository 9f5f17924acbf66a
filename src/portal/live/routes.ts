import type { ServeAction } from '../../contract.js'
import { invalidBody, Problem } from '../../errors.js'
import type { Bounds } from '../../parameters.js'
import type { Store } from '../../store/store.js'
import { type Line, readLines } from '../lines.js'
import { postValidations } from './contract.js'
import { ingest, tally } from './ingest.js'

/** A body is cut so that no piece of it holds the event loop for long. */
const PIECE_BYTES = 65_536
/** Nor does a line: it is parsed at once. */
const MAX_LINE_BYTES = 131_072

/** What changes the portal while it is served. */
export function portalRoutes(serve: ServeAction, { store, bounds }: { store: Store; bounds: Bounds }): void {
  serve(postValidations, async ({ body }) => {
    const lines = await linesOf(body, bounds.maxBulkLines)
    const results = await ingest(store, lines)
    const { gelees, ...counts } = tally(results)
    return { body: { ...counts, lignes: results, gelees } }
  })
}

/** The lines of a body of NDJSON, or the one that a JSON object is. Throws `body_too_large` and `invalid_body`. */
async function linesOf(body: unknown, maxLines: number): Promise<Line[]> {
  if (!Buffer.isBuffer(body)) {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalidBody('takes lines or an object')
    return [{ number: 1, text: textOf(body) }]
  }
  const lines: Line[] = []
  for await (const some of readLines(piecesOf(body), MAX_LINE_BYTES)) {
    lines.push(...some)
    if (lines.length > maxLines) {
      throw new Problem('body_too_large', {
        detail: `The body has more than the ${maxLines} lines that this path takes.`,
      })
    }
  }
  if (lines.every(({ text }) => text?.trim() === '')) throw invalidBody('has no line')
  return lines
}

function textOf(body: object): string {
  try {
    return JSON.stringify(body)
  } catch (error) {
    if (error instanceof RangeError) throw invalidBody('is nested too deeply')
    throw error
  }
}

async function* piecesOf(body: Buffer): AsyncGenerator<Buffer> {
  for (let from = 0; from < body.length; from += PIECE_BYTES) yield body.subarray(from, from + PIECE_BYTES)
}
