/** Text as search compares it: NFKD, marks dropped, lower case, final sigma as sigma. */
export function fold(text: string): string {
  if (isPlainAscii(text)) return text.toLowerCase()
  return text.normalize('NFKD').replace(MARKS, '').toLowerCase().replace(/ς/g, 'σ')
}

/** Text as equality compares it where ASCII case does not count. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** How many code points a text has. */
export function countCodePoints(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

const MARKS = /\p{M}/gu

function isPlainAscii(text: string): boolean {
  return /^[\x00-\x7f]*$/.test(text)
}
