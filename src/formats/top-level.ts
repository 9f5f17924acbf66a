export interface TopLevel {
  /** The names of the object's fields, in their order. */
  keys: string[]
  /** Whether a line ends inside the object. */
  endsLineInside: boolean
}

/** What the beginning of a JSON object shows of its top level, wherever the text was cut. Not valid JSON gives what there is. */
export function topLevelOf(text: string): TopLevel {
  const found: TopLevel = { keys: [], endsLineInside: false }
  if (!text.startsWith('{')) return found
  let depth = 0
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '\n') found.endsLineInside = true
    else if (token.startsWith('"')) {
      const key = depth === 1 ? KEY.exec(token)?.[1] : undefined
      if (key !== undefined) found.keys.push(key)
    } else depth += token === '{' || token === '[' ? 1 : -1
    if (depth === 0) return found
  }
  return found
}

/** A text, which may be cut, with the colon after it where it is a key; a bracket; the end of a line. */
const TOKEN = /"(?:[^"\\\n]|\\.)*(?:"(?:\s*:)?)?|[{}[\]]|\n/g
const KEY = /^"([^"\\]*)"\s*:$/
