/** Parses RFC 4180 strictly: records end with CRLF, and a quoted cell may contain anything. */
export function parseCsv(text: string): string[][] {
  const records: string[][] = []
  let at = 0
  while (at < text.length) {
    const record: string[] = []
    for (let isLast = false; !isLast; at++) {
      let cell = ''
      if (text[at] === '"') {
        for (at++; text[at] !== '"' || text[at + 1] === '"'; at++) {
          if (at >= text.length) throw new Error('a quoted cell has no end')
          if (text[at] === '"') at++
          cell += text[at]
        }
        at++
      } else while (at < text.length && text[at] !== ',' && text[at] !== '\r') cell += text[at++]
      record.push(cell)
      isLast = text.startsWith('\r\n', at)
      if (!isLast && text[at] !== ',') throw new Error(`neither a comma nor CRLF follows ${JSON.stringify(cell)}`)
    }
    at++
    records.push(record)
  }
  return records
}
