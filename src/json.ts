/** The JSON text of the contract: minified and ASCII, each UTF-16 unit from U+007F on written as \uXXXX. */
export function toJsonText(value: unknown): string {
  const text = JSON.stringify(value)
  return NON_ASCII.test(text) ? text.replace(NON_ASCII_ALL, escapeUnit) : text
}

/** The same as the bytes of a body. */
export function toJsonBuffer(value: unknown): Buffer {
  return Buffer.from(toJsonText(value), 'latin1')
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const NON_ASCII = /[\u007f-\uffff]/
const NON_ASCII_ALL = /[\u007f-\uffff]/g
